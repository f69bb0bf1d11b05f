import { afterAll, beforeAll, expect, test } from "vitest";
import { AttemptFailure, type Send } from "../../../src/http/types.ts";
import { documentedLimits, type Limits } from "../../../src/options/limits.ts";
import type { IoredisCommands } from "../../../src/redis/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { clockAhead, memberOn } from "../../support/fleet.ts";
import { requestOn } from "../../support/paced.ts";
import { randomCases } from "../../support/random-cases.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { SimulatedRedis } from "../../support/simulated-redis.ts";
import { seeded, simulatedService } from "../../support/simulation.ts";

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const lastsMs = 30_000;
const dayMax = 150;
const limits: Limits = {
  ...documentedLimits,
  requests: { max: 20, windowMs: 2_000 },
  emails: { max: 4, windowMs: 3_000 },
  events: { max: 10, windowMs: 500 },
  requestsPerDay: dayMax,
};
const loads = [
  { budgets: ["requests"], weights: [1], priority: "interactive" },
  { budgets: ["requests"], weights: [1], priority: "background" },
  { budgets: ["requests", "emails"], weights: [1], priority: "interactive" },
  { budgets: ["requests", "events"], weights: [1, 3, 10], priority: "background" },
] as const;

/** A process whose messages are lost, late, or not answered, and that is frozen at times, until it dies. */
class FaultyProcess {
  readonly #clock: FakeClock;
  readonly #random: () => number;
  readonly #store: SimulatedRedis;
  readonly #latencyMs: number;
  #isDead = false;
  #thawed: Promise<void> | undefined;
  messages = 0;

  constructor(store: SimulatedRedis, clock: FakeClock, random: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#latencyMs = random() * 20;
    void this.#live();
  }

  async #live(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(this.#random() * 20_000);
      if (this.#random() < 0.3) {
        this.#isDead = true;
        return;
      }
      this.#thawed = this.#clock.sleep(this.#random() * 12_000);
      await this.#thawed;
      this.#thawed = undefined;
    }
  }

  /** Goes on once the process runs; never if it has died. */
  async #runs(): Promise<void> {
    await this.#thawed;
    if (this.#isDead) await new Promise(() => undefined);
  }

  commands(): IoredisCommands {
    const commands = this.#store.commands(this.#latencyMs);
    return {
      ...commands,
      eval: async (...values) => {
        await this.#runs();
        this.messages += 1;
        const fate = this.#random();
        if (fate < 0.03) throw new Error("the message was lost");
        if (fate < 0.05) await this.#clock.sleep(this.#random() * 4_000);
        const answer = await commands.eval(...values);
        if (fate > 0.97) throw new Error("the answer was lost");
        if (fate > 0.95) await this.#clock.sleep(this.#random() * 4_000);
        await this.#runs();
        return answer;
      },
    };
  }

  /** Sends like the transport: what has to wait for a limit again is not sent. */
  sending(next: Send): Send {
    return async (sending, request) => {
      if (this.#random() < 0.1) await this.#clock.sleep(this.#random() * 3_000);
      await this.#runs();
      if (request.admission?.mustWaitAgain)
        throw new AttemptFailure("requeued", "lapsed", { wasSent: false });
      if (this.#random() < 0.05) throw new AttemptFailure("connection", "refused", { wasSent: false });
      const answer = await next(sending, request);
      await this.#runs();
      if (this.#random() < 0.05) throw new AttemptFailure("connection", "reset", { wasSent: true });
      return answer;
    };
  }
}

/** What one to five such processes send in half a minute. */
const outcomeOf = async (seed: number) => {
  const random = seeded(seed * 104_729);
  random();
  const clock = new FakeClock();
  const store = new SimulatedRedis(server.port, clock);
  await store.redis.flushall();
  const latency = { there: () => random() * 200, back: () => random() * (random() < 0.1 ? 5_000 : 200) };
  const { send, limiters } = simulatedService(clock, { counting: "sliding", limits, latency });
  const processes = Array.from({ length: 1 + Math.floor(random() * 5) }, () => {
    const process = new FaultyProcess(store, clock, random);
    const at = clockAhead(clock, Math.floor(random() * 1e6));
    const member = memberOn(process.commands(), process.sending(send), { id: "faulty", ...limits }, at);
    for (const { budgets, weights, priority } of loads)
      for (let caller = 0; caller < 4; caller += 1)
        void (async () => {
          while (clock.now() < lastsMs) {
            const weight = weights[Math.floor(random() * weights.length)] ?? 1;
            await member.send(requestOn(budgets, { weight, priority })).catch(() => clock.sleep(10));
            if (random() < 0.3) await clock.sleep(random() * 2_000);
          }
        })();
    return process;
  });
  await store.advance(lastsMs);
  store.redis.disconnect();
  const messages = processes.reduce((sum, one) => sum + one.messages, 0);
  const refused = Object.values(limiters).map((limiter) => limiter.refused);
  return { messages, refused, sent: limiters.requests.accepted };
};

// What Redis loses, and steps of its clock, have tests of their own in simulated.test.ts.
test("whatever happens to messages and processes, no limit is exceeded", async () => {
  const over: unknown[] = [];
  let [messages, sent, seed] = [0, 0, 0];
  while (messages < randomCases(10_000)) {
    seed += 1;
    const outcome = await outcomeOf(seed);
    messages += outcome.messages;
    sent += outcome.sent;
    if (outcome.sent > dayMax || outcome.refused.some((count) => count > 0)) over.push({ seed, ...outcome });
  }
  expect(over).toEqual([]);
  expect(sent / seed).toBeGreaterThan(dayMax / 2);
});
