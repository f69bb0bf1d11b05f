import { afterAll, beforeAll, beforeEach, vi } from "vitest";
import type { Send } from "../../src/http/types.ts";
import { documentedLimits, type Limits } from "../../src/options/limits.ts";
import type { IoredisCommands, RedisLimitsOptions } from "../../src/redis/index.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { FakeClock } from "./fake-clock.ts";
import { memberOn } from "./fleet.ts";
import { answered, requestOn } from "./paced.ts";
import { RedisServer } from "./redis-server.ts";
import type { SendingSpec, SendSpec } from "./sending.ts";
import { SimulatedRedis } from "./simulated-redis.ts";
import { constantLatency, seeded, simulatedService } from "./simulation.ts";

/** The limits of a simulated fleet and of its service. */
export const limits: Limits = {
  ...documentedLimits,
  requests: { max: 50, windowMs: 1_000 },
  requestsPerDay: 1e9,
  eventsPerDay: 1e9,
};

/** A request that spends the `requests` limit only. */
export const call = requestOn(["requests"]);

/** A request that spends one of `requests` and `weight` of `events`. */
export const batchOf = (weight: number): SendingSpec => requestOn(["requests", "events"], { weight });

/** A service that accepts everything, and how much it has accepted. */
export const counting = () => {
  const taken = { count: 0 };
  const next: Send = async () => {
    taken.count += 1;
    return answered();
  };
  return { taken, next };
};

/** Starts 50 callers that each send one request after the other until `isOver()`, and counts the responses. */
export const saturate = (
  { send }: { readonly send: SendSpec },
  request: SendingSpec,
  isOver = () => false,
) => {
  const answers = { count: 0 };
  for (let caller = 0; caller < 50; caller += 1) {
    void (async () => {
      while (!isOver()) {
        await send(request);
        answers.count += 1;
      }
    })();
  }
  return answers;
};

/**
 * Processes that share their limits over a real redis-server, which reads the clock of the test: exact on a machine of any
 * speed. Call it at the top of a test file: it starts the server for the file, and the clock anew for each test.
 */
export const simulatedFleet = () => {
  let server: RedisServer;
  let clock: FakeClock;
  let store: SimulatedRedis;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  beforeEach(async () => {
    clock = new FakeClock();
    store = new SimulatedRedis(server.port, clock);
    await store.redis.flushall();
    // The waits after conflicts are random, and change the used share of a limit by 1 %.
    const random = vi.spyOn(Math, "random").mockImplementation(seeded(1));
    return () => {
      random.mockRestore();
      store.redis.disconnect();
    };
  });
  afterAll(() => server.stop());

  /** A process that sends to `next`. */
  const join = (
    next: Send,
    options: Partial<RedisLimitsOptions> = {},
    { redis = store.commands(1), at = clock }: { redis?: IoredisCommands; at?: Clock } = {},
  ) => memberOn(redis, next, { id: "fleet", ...limits, ...options }, at);

  /** A service that counts in sliding windows. */
  const strict = () =>
    simulatedService(clock, { counting: "sliding", limits, latency: constantLatency(5, 5) });

  /** The commands of a process that can lose its Redis, or only its answers, and when it asked for something. */
  const watched = () => {
    const commands = store.commands(1);
    const line: { isLost: boolean; isDeaf: boolean; asked: readonly number[] } = {
      isLost: false,
      isDeaf: false,
      asked: [],
    };
    const redis: IoredisCommands = {
      ...commands,
      eval: async (...values) => {
        line.asked = [...line.asked, clock.now()];
        if (line.isLost) throw new Error("lost");
        const answer = await commands.eval(...values);
        // Redis has done it all the same.
        if (line.isDeaf) throw new Error("the response was lost");
        return answer;
      },
    };
    return { line, redis };
  };

  /** The commands of a process that stops, as a killed or a frozen one does: what it sends then has no effect. */
  const mortal = () => {
    const commands = store.commands(1);
    const life = { isOver: false };
    const gone = (): Promise<never> => new Promise(() => undefined);
    const redis: IoredisCommands = {
      ...commands,
      eval: (...values) => (life.isOver ? gone() : commands.eval(...values)),
    };
    const dying =
      (send: Send): Send =>
      (sending, request) =>
        life.isOver ? gone() : send(sending, request);
    return { life, redis, dying };
  };

  return {
    get clock(): FakeClock {
      return clock;
    },
    get store(): SimulatedRedis {
      return store;
    },
    join,
    strict,
    watched,
    mortal,
  };
};
