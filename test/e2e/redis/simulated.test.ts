import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ConnectionError } from "../../../src/errors.ts";
import type { HttpRequest } from "../../../src/http/message.ts";
import { AttemptFailure, BatchTooLarge, type Send } from "../../../src/http/types.ts";
import { documentedLimits, type Limits } from "../../../src/options/limits.ts";
import type { IoredisCommands, RedisLimitsOptions } from "../../../src/redis/index.ts";
import { DeadlineExceeded } from "../../../src/runtime/cancellation.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { clockAhead, memberOn } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { RedisServer } from "../../support/redis-server.ts";
import type { SendingSpec, SendSpec } from "../../support/sending.ts";
import { SimulatedRedis } from "../../support/simulated-redis.ts";
import { constantLatency, simulatedService } from "../../support/simulation.ts";

// A real redis-server that reads the clock of the test: exact, and no machine is too slow for it.

const limits: Limits = {
  ...documentedLimits,
  requests: { max: 50, windowMs: 1_000 },
  requestsPerDay: 1e9,
  eventsPerDay: 1e9,
};
const call = requestOn(["requests"]);
const batchOf = (weight: number): SendingSpec => requestOn(["requests", "events"], { weight });
const dayMs = 86_400_000;

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
  return () => store.redis.disconnect();
});
afterAll(() => server.stop());

const join = (
  next: Send,
  options: Partial<RedisLimitsOptions> = {},
  { redis = store.commands(1), at = clock }: { redis?: IoredisCommands; at?: Clock } = {},
) => memberOn(redis, next, { id: "fleet", ...limits, ...options }, at);

const strict = () => simulatedService(clock, { counting: "sliding", limits, latency: constantLatency(5, 5) });

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

/** A service that takes everything, and how much that was. */
const counting = () => {
  const taken = { count: 0 };
  const next: Send = async () => {
    taken.count += 1;
    return answered();
  };
  return { taken, next };
};

/** Callers that send one request after the other, until told to stop; counts what is answered. */
const saturate = ({ send }: { readonly send: SendSpec }, request: SendingSpec, isOver = () => false) => {
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

test("four processes, three with clocks that are off, use one limit fully and draw no 429", async () => {
  const { send, limiters } = strict();
  for (const ahead of [0, 60_000, -60_000, 3_600_000])
    saturate(join(send, {}, { at: clockAhead(clock, ahead) }), call);
  await store.advance(5_000);
  const before = limiters.requests.accepted;
  await store.advance(20_000);
  expect(limiters.requests.refused).toBe(0);
  expect((limiters.requests.accepted - before) / (20 * limits.requests.max)).toBeGreaterThanOrEqual(0.97);
});

// A change of the state takes a message there and back, and another process may change it meanwhile.
test.each([
  [60, 0.9],
  [300, 0.2],
])(
  "two processes that Redis is %i ms away from use at least %d of a limit and draw no 429",
  async (latencyMs, least) => {
    const { send, limiters } = strict();
    for (let at = 0; at < 2; at += 1)
      saturate(join(send, {}, { redis: store.commands(latencyMs) }), batchOf(1));
    await store.advance(20_000);
    const before = limiters.events.accepted;
    await store.advance(20_000);
    expect(limiters.events.refused).toBe(0);
    expect((limiters.events.accepted - before) / (20 * limits.events.max)).toBeGreaterThanOrEqual(least);
  },
);

test("batches that do not divide a share are neither starved nor torn from one process to the other", async () => {
  const { send, limiters } = strict();
  const answers = Array.from({ length: 4 }, () => saturate(join(send), batchOf(10)));
  await store.advance(10_000);
  const before = limiters.events.accepted;
  await store.advance(30_000);
  expect(limiters.events.refused).toBe(0);
  expect((limiters.events.accepted - before) / (30 * limits.events.max)).toBeGreaterThanOrEqual(0.97);
  expect(Math.min(...answers.map(({ count }) => count))).toBeGreaterThanOrEqual(30);
});

test("batches as large as half the limit go round among more processes than have room", async () => {
  const { send, limiters } = strict();
  const answers = Array.from({ length: 4 }, () => saturate(join(send), batchOf(25)));
  await store.advance(40_000);
  expect(limiters.events.refused).toBe(0);
  const counts = answers.map(({ count }) => count);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(10);
  expect(Math.max(...counts) / Math.min(...counts)).toBeLessThanOrEqual(1.2);
});

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

test("the permits of a killed process come back three seconds and a window after its last message", async () => {
  const { send, limiters } = strict();
  const { life, redis, dying } = mortal();
  saturate(join(send), call);
  // Slow, so that most of its permits are in flight as it dies.
  const slow = dying(async (sending, request) => {
    const answer = await send(sending, request);
    await clock.sleep(2_000);
    return answer;
  });
  saturate(join(slow, {}, { redis }), call);
  await store.advance(5_000);
  life.isOver = true;
  await store.advance(1_200);
  const shareOver = async (ms: number): Promise<number> => {
    const before = limiters.requests.accepted;
    await store.advance(ms);
    return (limiters.requests.accepted - before) / ((ms / 1_000) * limits.requests.max);
  };
  expect(await shareOver(2_000)).toBeLessThanOrEqual(0.8);
  await store.advance(1_000);
  // Over twenty windows, because a burst at the edge is half of one.
  expect(await shareOver(20_000)).toBeGreaterThanOrEqual(0.97);
  expect(limiters.requests.refused).toBe(0);
});

test("a slow request of a live process counts for as long as it takes", async () => {
  const answers: ((response: ReturnType<typeof answered>) => void)[] = [];
  const slow = join(() => new Promise((resolve) => answers.push(resolve)));
  const { taken, next } = counting();
  const other = join(next);
  for (let at = 0; at < 50; at += 1) void slow.send(call);
  await store.advance(100);
  void other.send(call);
  await store.advance(20_000);
  expect([answers.length, taken.count]).toEqual([50, 0]);
  for (const answer of answers) answer(answered());
  await store.advance(1_500);
  expect(taken.count).toBe(1);
});

test("a process that Redis may take for dead sends no request that it was granted before", async () => {
  const { life, redis } = mortal();
  const underWay: HttpRequest[] = [];
  const next: Send = (_sending, request) => {
    underWay.push(request);
    return new Promise(() => undefined);
  };
  void join(next, {}, { redis }).send(call);
  await store.advance(10_000);
  life.isOver = true;
  const isHeld = () => underWay.map(({ admission }) => admission?.mustWaitAgain);
  const before = isHeld();
  // Its last message is up to 750 ms old.
  await store.advance(1_250);
  const meanwhile = isHeld();
  await store.advance(750);
  expect([before, meanwhile, isHeld()]).toEqual([[false], [false], [true]]);
});

test("a process that was taken for dead and goes on draws no 429", async () => {
  const { send, limiters } = strict();
  const { life, redis } = mortal();
  let thaw = (): void => undefined;
  const thawed = new Promise<void>((resolve) => {
    thaw = resolve;
  });
  // Its requests find a socket only after the freeze; one whose permits lapsed asks again.
  const frozen = join(
    async (sending, request) => {
      if (life.isOver) await thawed;
      if (request.admission?.mustWaitAgain)
        throw new AttemptFailure("requeued", "lapsed", { wasSent: false });
      return send(sending, request);
    },
    {},
    { redis },
  );
  saturate(join(send), call);
  const again = async (): Promise<void> => {
    for (;;) await frozen.send(call).catch(() => undefined);
  };
  for (let caller = 0; caller < 50; caller += 1) void again();
  await store.advance(5_000);
  life.isOver = true;
  await store.advance(10_000);
  life.isOver = false;
  thaw();
  await store.advance(10_000);
  const before = limiters.requests.accepted;
  await store.advance(10_000);
  expect(limiters.requests.refused).toBe(0);
  expect((limiters.requests.accepted - before) / (10 * limits.requests.max)).toBeGreaterThanOrEqual(0.97);
});

test("requests that need no narrower limit have all but what an event now and then uses", async () => {
  const { send, limiters } = strict();
  const [events, others] = [join(send), join(send)];
  saturate(others, call);
  void (async () => {
    for (;;) {
      await events.send(batchOf(1));
      await clock.sleep(800);
    }
  })();
  await store.advance(5_000);
  const before = limiters.requests.accepted;
  await store.advance(40_000);
  expect(limiters.requests.refused).toBe(0);
  expect((limiters.requests.accepted - before) / (40 * limits.requests.max)).toBeGreaterThanOrEqual(0.97);
});

test("after a flush, processes that used Redis before wait 3 s and a window and exceed no limit", async () => {
  const { send, limiters } = strict();
  for (let at = 0; at < 3; at += 1) saturate(join(send), call);
  await store.advance(5_000);
  await store.redis.flushall();
  await store.advance(4_100);
  const before = limiters.requests.accepted;
  await store.advance(20_000);
  expect(limiters.requests.refused).toBe(0);
  expect((limiters.requests.accepted - before) / (20 * limits.requests.max)).toBeGreaterThanOrEqual(0.93);
});

test("after a flush, what a process was granted before counts until it can no longer be sent", async () => {
  const { send, limiters } = strict();
  const { life, redis } = mortal();
  let connect = (): void => undefined;
  const connected = new Promise<void>((resolve) => {
    connect = resolve;
  });
  const slow = join(
    async (sending, request) => {
      await connected;
      if (request.admission?.mustWaitAgain)
        throw new AttemptFailure("requeued", "lapsed", { wasSent: false });
      return send(sending, request);
    },
    {},
    { redis },
  );
  const other = join(send);
  void other.send(call);
  await store.advance(5_000);
  for (let at = 0; at < 50; at += 1) slow.send(call).catch(() => undefined);
  await store.advance(10);
  life.isOver = true;
  await store.redis.flushall();
  for (let at = 0; at < 50; at += 1) void other.send(call);
  await store.advance(1_900);
  connect();
  await store.advance(10_000);
  expect([limiters.requests.accepted, limiters.requests.refused]).toEqual([101, 0]);
});

test("a pause reaches the others with the time that two messages take, and tells what it was", async () => {
  const sent: string[] = [];
  const at =
    (name: string): Send =>
    async () => {
      sent.push(`${name} ${clock.now()}`);
      return name === "a" && sent.length === 3 ? answered(429, { "retry-after": "5" }) : answered();
    };
  const [a, b] = [join(at("a")), join(at("b"))];
  void a.send(call);
  await store.advance(10);
  void b.send(call);
  await store.advance(90);
  void a.send(requestOn(["requests"], { operation: "contacts.update" }));
  await store.advance(3);
  void b.send(call);
  void b.send(call);
  await store.advance(100);
  expect(sent.length).toBe(3);
  const pausedBy = "429 on contacts.update";
  expect([a, b].map(({ limiter }) => limiter.state().requests.pausedBy)).toEqual([pausedBy, pausedBy]);
  await store.advance(6_000);
  expect(sent.map((line) => line.split(" ")[0])).toEqual(["a", "b", "a", "b", "b"]);
  const first = Number(sent[3]?.split(" ")[1]);
  expect(first).toBeGreaterThanOrEqual(5_100);
});

test("a full mail account stops sending in every process, and scheduling in none", async () => {
  const sent: string[] = [];
  const at =
    (name: string): Send =>
    async ({ operation: { stopsAlone } }) => {
      sent.push(`${name} ${stopsAlone ? "sends" : "schedules"}`);
      return stopsAlone ? answered(429, { "retry-after": "3600" }) : answered();
    };
  const [a, b] = [join(at("a")), join(at("b"))];
  const schedule = requestOn(["requests", "emails"]);
  const email = { ...schedule, stopsAlone: true };
  void a.send(email);
  await store.advance(100);
  const refused = b.send(email).catch((error: unknown) => error);
  for (const one of [a, b]) void one.send(schedule);
  await store.advance(100);
  expect(await refused).toMatchObject({ name: "RateLimitError", limit: "emails", outcome: "not-applied" });
  expect(sent.sort()).toEqual(["a schedules", "a sends", "b schedules"]);
  expect(b.limiter.state().emails).toMatchObject({ used: 3, pausedBy: "429 on requests+emails" });
});

test("a server whose clock steps back an hour during a pause adds no wait", async () => {
  let sent = 0;
  const { send, limiters } = strict();
  const paused: Send = async () => answered(429, { "retry-after": "5" });
  const first = join((...sending) => (sent++ === 0 ? paused(...sending) : send(...sending)));
  void first.send(call);
  await store.advance(1_900);
  void first.send(call);
  await store.advance(100);
  store.aheadMs = -3_600_000;
  // It has heard of no pause but from the server.
  const second = join(send);
  for (const one of [first, second]) saturate(one, call);
  await store.advance(2_900);
  expect(limiters.requests.accepted).toBe(0);
  await store.advance(1_200);
  expect(limiters.requests.accepted).toBe(50);
  // The pause may last longer by the silence before the step, which was less than a second.
  await store.advance(10_000);
  expect(limiters.requests.accepted).toBeGreaterThanOrEqual(500);
  expect(limiters.requests.refused).toBe(0);
});

test.each([2_000, 3_600_000, -3_600_000])(
  "a server whose clock steps by %i ms lets no request go early, and costs less than a window",
  async (stepMs) => {
    const { send, limiters } = strict();
    const fleet = [join(send), join(send), join(send)];
    for (const one of fleet) saturate(one, call);
    await store.advance(5_050);
    const before = limiters.requests.accepted;
    store.aheadMs = stepMs;
    await store.advance(20_000);
    store.aheadMs = 0;
    await store.advance(20_000);
    expect(limiters.requests.refused).toBe(0);
    expect(limiters.requests.accepted - before).toBeGreaterThanOrEqual(38 * limits.requests.max);
  },
);

test("a message that is on its way for seconds lets no request go early", async () => {
  const { send, limiters } = strict();
  const commands = store.commands(1);
  let waysMs: readonly number[] = [];
  const slow: IoredisCommands = {
    ...commands,
    eval: async (...values) => {
      const [wayMs = 0, ...rest] = waysMs;
      waysMs = rest;
      if (wayMs > 0) await clock.sleep(wayMs);
      return commands.eval(...values);
    },
  };
  const [late, other] = [join(send, {}, { redis: slow }), join(send)];
  for (const one of [late, other]) void one.send(call);
  await store.advance(2_000);
  waysMs = [2_900];
  for (let at = 0; at < 50; at += 1) void late.send(call);
  await store.advance(3_500);
  for (let at = 0; at < 50; at += 1) void other.send(call);
  await store.advance(10_000);
  expect([limiters.requests.accepted, limiters.requests.refused]).toEqual([102, 0]);
});

test("a server whose clock steps forward an hour ends no pause", async () => {
  const sentAt: number[] = [];
  const next: Send = async () => {
    sentAt.push(clock.now());
    return sentAt.length === 1 ? answered(429, { "retry-after": "5" }) : answered();
  };
  const [first, second] = [join(next), join(next)];
  void first.send(call);
  await store.advance(500);
  void second.send(call);
  await store.advance(500);
  store.aheadMs = 3_600_000;
  // One that knows of the pause from the server, one from the service, and one that knows of nothing.
  for (const one of [second, first, join(next)]) void one.send(call);
  await store.advance(3_900);
  expect(sentAt.length).toBe(1);
  await store.advance(3_000);
  expect(sentAt.length).toBe(5);
});

test("processes that start after a silence do not wait for what others used before it", async () => {
  const next: Send = async () => answered();
  const tookMs: number[] = [];
  for (let at = 0; at < 8; at += 1) {
    const one = join(next, { requests: { max: 2, windowMs: 10_000 } });
    const since = clock.now();
    void one.send(call).then(() => tookMs.push(clock.now() - since));
    await store.advance(30_000);
    await one.limiter.close();
  }
  // To read the state, and to change it.
  expect(tookMs).toEqual(Array(8).fill(4));
});

test("a day that is used up stays so for a process that is started anew, also after a kill", async () => {
  const day = { requestsPerDay: 5 };
  const first = join(async () => answered(), day);
  for (let at = 0; at < 5; at += 1) void first.send(call);
  await store.advance(1_000);
  const second = join(async () => answered(), day);
  const refused = second.send(call).catch((error: unknown) => error);
  await store.advance(1_000);
  expect(await refused).toMatchObject({ name: "RateLimitError", outcome: "not-applied" });
  expect(second.limiter.state().requestsPerDay).toMatchObject({ used: 5, remaining: 0 });
  await store.advance(dayMs + 300_000);
  const third = second.send(call);
  await store.advance(1_000);
  expect((await third).status).toBe(200);
});

test("after a flush a process tells what it used in the last 24 hours, and no more", async () => {
  const { limiter, send } = join(async () => answered());
  const use = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) void send(call);
    await store.advance(4_500);
  };
  await use(5);
  await store.advance(dayMs + 300_000);
  await use(3);
  await store.redis.flushall();
  await use(1);
  await use(1);
  expect(limiter.state().requestsPerDay.used).toBe(5);
});

test("use whose report is repeated for want of an answer counts once", async () => {
  const { line, redis } = watched();
  const { limiter, send } = join(async () => answered(), {}, { redis });
  void send(call);
  await store.advance(100);
  line.isDeaf = true;
  for (let at = 0; at < 3; at += 1) void send(call);
  await store.advance(10_000);
  line.isDeaf = false;
  void send(call);
  await store.advance(1_000);
  const other = join(async () => answered());
  void other.send(call);
  await store.advance(1_000);
  expect([limiter, other.limiter].map((one) => one.state().requestsPerDay.used)).toEqual([5, 6]);
});

test("a day outlives the loss of its key while a process runs that used it", async () => {
  const sent: number[] = [];
  const next: Send = async () => {
    sent.push(clock.now());
    return answered();
  };
  const day = { requestsPerDay: 10 };
  const first = join(next, day);
  for (let at = 0; at < 5; at += 1) void first.send(call);
  await store.advance(1_000);
  void first.limiter.close();
  const second = join(next, day);
  for (let at = 0; at < 3; at += 1) void second.send(call);
  await store.advance(5_000);
  await store.redis.del("touchpoint:{limits}:id:fleet:requests");
  const third = join(next, day);
  const sends = [second, third].flatMap((one) => Array.from({ length: 8 }, () => one.send(call)));
  const outcomes = Promise.allSettled(sends);
  await store.advance(5_000);
  expect(sent.length).toBe(10);
  expect((await outcomes).filter(({ status }) => status === "rejected").length).toBe(14);
});

test("calls wait up to maxLostMs for Redis, and are then refused until it is back", async () => {
  const { line, redis } = watched();
  line.isLost = true;
  const { send } = join(async () => answered(), { maxLostMs: 5_000 }, { redis });
  let refusal: unknown;
  void send(call).catch((error: unknown) => {
    refusal = error;
  });
  await store.advance(4_999);
  expect(refusal).toBe(undefined);
  await store.advance(200);
  expect(refusal).toBeInstanceOf(ConnectionError);
  expect(refusal).toMatchObject({ outcome: "not-applied", operation: "requests" });
  line.isLost = false;
  // The next call asks for it again.
  await expect(send(call)).rejects.toBeInstanceOf(ConnectionError);
  await store.advance(1_000);
  const back = send(call);
  await store.advance(100);
  expect((await back).status).toBe(200);
});

test("busy interactive calls take two thirds; background work takes all once they end", async () => {
  const numbers = { requests: documentedLimits.requests };
  const service = simulatedService(clock, {
    ...{ counting: "sliding", latency: constantLatency(5, 5) },
    limits: { ...limits, ...numbers },
  });
  const sent = { interactive: 0, background: 0 };
  let isOver = false;
  for (const priority of ["interactive", "background"] as const) {
    const process = join((...sending) => {
      sent[priority] += 1;
      return service.send(...sending);
    }, numbers);
    saturate(process, requestOn(["requests"], { priority }), () => isOver && priority === "interactive");
  }
  await store.advance(20_000);
  const before = { ...sent };
  await store.advance(60_000);
  expect((sent.interactive - before.interactive) / 600).toBeGreaterThanOrEqual(0.65);
  expect((sent.background - before.background) / 600).toBeGreaterThanOrEqual(0.1);
  isOver = true;
  await store.advance(40_000);
  before.background = sent.background;
  await store.advance(20_000);
  expect(sent.background - before.background).toBe(200);
  expect(service.limiters.requests.refused).toBe(0);
});

test.each([
  ["an export", ["requests"], 1],
  ["an ingestion", ["requests", "events"], 50],
] as const)(
  "interactive calls go before %s of another process, which keeps the rest",
  async (_, budgets, size) => {
    const service = simulatedService(clock, {
      ...{ counting: "sliding", latency: constantLatency(25, 25) },
      limits: { ...documentedLimits, requestsPerDay: 1e9, eventsPerDay: 1e9 },
    });
    const numbers = { requests: documentedLimits.requests, events: documentedLimits.events };
    const [background, interactive] = [join(service.send, numbers), join(service.send, numbers)];
    const narrowest = budgets.at(-1) ?? "requests";
    const { max, windowMs } = numbers[narrowest];
    const work = async (): Promise<void> => {
      for (let weight: number = size; ; )
        await background
          .send(requestOn(budgets, { weight, priority: "background", isDivisible: true }))
          .catch((error: unknown) => {
            if (!(error instanceof BatchTooLarge)) throw error;
            weight = error.most;
          });
    };
    for (let caller = 0; caller < 16; caller += 1) void work();
    await store.advance(2 * windowMs);
    const before = service.limiters[narrowest].accepted;
    const tookMs: number[] = [];
    for (let second = 0; second < 120; second += 1) {
      const since = clock.now();
      void interactive.send(requestOn(budgets)).then(() => tookMs.push(clock.now() - since));
      await store.advance(1_000);
    }
    const done = service.limiters[narrowest].accepted - before - 120;
    expect(Math.max(...tookMs)).toBeLessThanOrEqual(1_500);
    expect(tookMs.length).toBeGreaterThanOrEqual(119);
    expect(done / ((120_000 / windowMs) * max)).toBeGreaterThanOrEqual(0.8);
    expect(service.limiters.requests.refused + service.limiters.events.refused).toBe(0);
  },
);

test("while Redis is out of reach budgets() and waits that end say so, and what decides", async () => {
  const { line, redis } = watched();
  const { limiter, send } = join(async () => answered(), { maxLostMs: 5_000 }, { redis });
  void send(call);
  await store.advance(100);
  line.isLost = true;
  await store.advance(200);
  const ended = new AbortController();
  const refusals = Promise.allSettled([
    send(requestOn(["requests"], { maxWaitMs: 500 })),
    send(requestOn(["requests"], { signal: ended.signal })),
  ]);
  await store.advance(500);
  ended.abort(new DeadlineExceeded(700));
  const why =
    "Redis, which shares the limits, is unreachable: lost. " +
    'Because onLost is "closed", calls wait, and fail 5000 ms after the loss (maxLostMs)';
  expect(await refusals).toMatchObject([
    {
      reason: {
        name: "RateLimitError",
        message: expect.stringContaining(`maxWaitMs has passed while it waited (for ${why})`),
      },
    },
    { reason: { message: expect.stringContaining(`(700 ms, waiting for ${why})`) } },
  ]);
  const lostOnes = () =>
    Object.entries(limiter.state()).map(([name, { lost, remaining }]) => [name, lost, remaining]);
  expect(lostOnes().slice(0, 2)).toEqual([
    ["requests", why, 0],
    ["requestsPerDay", why, 1e9 - 1],
  ]);
  line.isLost = false;
  void send(call);
  await store.advance(500);
  expect(lostOnes()[0]).toEqual(["requests", undefined, 49]);
});

test("a Redis that never answers holds no close up", async () => {
  let isSilent = false;
  const commands = store.commands(1);
  const redis: IoredisCommands = {
    ...commands,
    eval: (...values) => (isSilent ? new Promise(() => undefined) : commands.eval(...values)),
  };
  const { limiter, send } = join(async () => answered(), {}, { redis });
  void send(call);
  await store.advance(200);
  isSilent = true;
  let isClosed = false;
  void limiter.close().then(() => {
    isClosed = true;
  });
  await store.advance(200);
  expect(isClosed).toBe(true);
});

test("failing open, each process goes on with its share; with Redis back they use all of it again", async () => {
  const { send, limiters } = strict();
  const lines = Array.from({ length: 2 }, () => {
    const { line, redis } = watched();
    saturate(join(send, { onLost: "open", share: 0.4 }, { redis }), call);
    return line;
  });
  const shareOver = async (ms: number): Promise<number> => {
    const before = limiters.requests.accepted;
    await store.advance(ms);
    return (limiters.requests.accepted - before) / ((ms / limits.requests.windowMs) * limits.requests.max);
  };
  await store.advance(5_000);
  for (const line of lines) line.isLost = true;
  // What was used last has to cool, and the leases have to end.
  await store.advance(2_500);
  expect(await shareOver(10_000)).toBeCloseTo(0.8, 1);
  for (const line of lines) line.isLost = false;
  await store.advance(2_500);
  expect(await shareOver(20_000)).toBeGreaterThanOrEqual(0.97);
  expect(limiters.requests.refused).toBe(0);
});

test("failing open, a process waits out a pause that the service asks for", async () => {
  const { line, redis } = watched();
  const sentAt: number[] = [];
  const next: Send = async () => {
    sentAt.push(clock.now());
    return sentAt.length === 1 ? answered(429, { "retry-after": "20" }) : answered();
  };
  line.isLost = true;
  const { send } = join(next, { onLost: "open", share: 0.4 }, { redis });
  void send(call);
  await store.advance(5_000);
  void send(call);
  await store.advance(25_000);
  const [first = 0, second = 0] = sentAt;
  expect([sentAt.length, second - first]).toEqual([2, 20_000]);
});

test("a call that went without Redis, and is granted by a late answer, counts for the day", async () => {
  const { limiter, send } = join(
    async () => answered(),
    { onLost: "open", share: 0.4 },
    { redis: store.commands(2_000) },
  );
  void send(call);
  await store.advance(60_000);
  void send(call);
  await store.advance(60_000);
  const other = join(async () => answered());
  void other.send(call);
  await store.advance(1_000);
  // What is taken for lost is reported again, and takes effect twice: above the truth, and never below.
  expect([limiter, other.limiter].map((one) => one.state().requestsPerDay.used)).toEqual([2, 4]);
});

test("a process that sends nothing asks for nothing, and a request takes a read and two writes", async () => {
  const { line, redis } = watched();
  const { send } = join(async () => answered(), {}, { redis });
  void send(call);
  await store.advance(60_000);
  expect(line.asked).toEqual([0, 2, 154]);
  void send(call);
  await store.advance(200);
  expect(line.asked).toEqual([0, 2, 154, 60_000, 60_002, 60_154]);
});

test("a request that has ended is told with the next question, and with close()", async () => {
  const { line, redis } = watched();
  const { limiter, send } = join(async () => answered(), {}, { redis });
  void send(call);
  await store.advance(50);
  void send(call);
  await store.advance(10);
  void limiter.close();
  await store.advance(50);
  expect(line.asked).toEqual([0, 2, 50, 60]);
});

test("the time until a request's end is told is part of its window", async () => {
  const sentAt: number[] = [];
  const next: Send = async () => {
    sentAt.push(clock.now());
    return answered();
  };
  const { send } = join(next, { requests: { max: 1, windowMs: 10_000 } });
  for (let at = 0; at < 3; at += 1) void send(call);
  await store.advance(25_000);
  // A window and its margins after the last one, and a message's way: not later by what was waited with the message.
  expect(sentAt.map((at, place) => Math.floor(at - (sentAt[place - 1] ?? at)))).toEqual([0, 10_009, 10_009]);
});

test("a request that was never sent is given back, for the window and the day", async () => {
  const unsent: Send = async () => {
    throw new AttemptFailure("connection", "refused", { wasSent: false });
  };
  const scarce = { requests: { max: 1, windowMs: 60_000 }, requestsPerDay: 1 };
  const failure = join(unsent, scarce)
    .send(call)
    .catch((error: unknown) => error);
  await store.advance(10);
  expect(await failure).toBeInstanceOf(AttemptFailure);
  const sent = join(async () => answered(), scarce).send(call);
  await store.advance(10);
  expect((await sent).status).toBe(200);
});

test("each call tries a lost Redis once, before it is refused; without calls nothing does", async () => {
  const { line, redis } = watched();
  const { send } = join(async () => answered(), { maxLostMs: 5_000 }, { redis });
  const outcome = (): Promise<unknown> =>
    send(call).then(
      ({ status }) => status,
      ({ outcome }) => outcome,
    );
  const answers = [outcome()];
  await store.advance(100);
  line.isLost = true;
  await store.advance(900);
  answers.push(outcome());
  await store.advance(9_000);
  line.asked = [];
  await store.advance(10_000);
  answers.push(outcome());
  await store.advance(10_000);
  answers.push(outcome());
  await store.advance(10_000);
  expect(line.asked).toEqual([20_000, 30_000]);
  line.isLost = false;
  answers.push(outcome());
  await store.advance(10);
  answers.push(outcome());
  await store.advance(1_000);
  expect(await Promise.all(answers)).toEqual([200, ...Array(3).fill("not-applied"), 200, 200]);
});
