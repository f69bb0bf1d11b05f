import { expect, test } from "vitest";
import { BatchTooLarge, type Send } from "../../../../src/http/types.ts";
import { documentedLimits } from "../../../../src/options/limits.ts";
import { clockAhead } from "../../../support/fleet.ts";
import { answered, requestOn } from "../../../support/paced.ts";
import { batchOf, call, limits, saturate, simulatedFleet } from "../../../support/simulated-fleet.ts";
import { constantLatency, simulatedService } from "../../../support/simulation.ts";

const fleet = simulatedFleet();
const { join, strict } = fleet;

test("four processes, three with clocks that are off, use one limit fully and draw no 429", async () => {
  const { send, limiters } = strict();
  for (const ahead of [0, 60_000, -60_000, 3_600_000])
    saturate(join(send, {}, { at: clockAhead(fleet.clock, ahead) }), call);
  await fleet.store.advance(5_000);
  const before = limiters.requests.accepted;
  await fleet.store.advance(20_000);
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
      saturate(join(send, {}, { redis: fleet.store.commands(latencyMs) }), batchOf(1));
    await fleet.store.advance(20_000);
    const before = limiters.events.accepted;
    await fleet.store.advance(20_000);
    expect(limiters.events.refused).toBe(0);
    expect((limiters.events.accepted - before) / (20 * limits.events.max)).toBeGreaterThanOrEqual(least);
  },
);

test("batches that do not divide a share are neither starved nor torn from one process to the other", async () => {
  const { send, limiters } = strict();
  const answers = Array.from({ length: 4 }, () => saturate(join(send), batchOf(10)));
  await fleet.store.advance(10_000);
  const before = limiters.events.accepted;
  await fleet.store.advance(30_000);
  expect(limiters.events.refused).toBe(0);
  expect((limiters.events.accepted - before) / (30 * limits.events.max)).toBeGreaterThanOrEqual(0.97);
  expect(Math.min(...answers.map(({ count }) => count))).toBeGreaterThanOrEqual(30);
});

test("batches as large as half the limit go round among more processes than have room", async () => {
  const { send, limiters } = strict();
  const answers = Array.from({ length: 4 }, () => saturate(join(send), batchOf(25)));
  await fleet.store.advance(40_000);
  expect(limiters.events.refused).toBe(0);
  const counts = answers.map(({ count }) => count);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(10);
  expect(Math.max(...counts) / Math.min(...counts)).toBeLessThanOrEqual(1.2);
});

test("requests that need no narrower limit have all but what an event now and then uses", async () => {
  const { send, limiters } = strict();
  const [events, others] = [join(send), join(send)];
  saturate(others, call);
  void (async () => {
    for (;;) {
      await events.send(batchOf(1));
      await fleet.clock.sleep(800);
    }
  })();
  await fleet.store.advance(5_000);
  const before = limiters.requests.accepted;
  await fleet.store.advance(40_000);
  expect(limiters.requests.refused).toBe(0);
  expect((limiters.requests.accepted - before) / (40 * limits.requests.max)).toBeGreaterThanOrEqual(0.97);
});

test("processes that start after a silence do not wait for what others used before it", async () => {
  const next: Send = async () => answered();
  const tookMs: number[] = [];
  for (let at = 0; at < 8; at += 1) {
    const one = join(next, { requests: { max: 2, windowMs: 10_000 } });
    const since = fleet.clock.now();
    void one.send(call).then(() => tookMs.push(fleet.clock.now() - since));
    await fleet.store.advance(30_000);
    await one.limiter.close();
  }
  // To read the state, and to change it.
  expect(tookMs).toEqual(Array(8).fill(4));
});

test("busy interactive calls take two thirds; background work takes all once they end", async () => {
  const numbers = { requests: documentedLimits.requests };
  const service = simulatedService(fleet.clock, {
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
  await fleet.store.advance(20_000);
  const before = { ...sent };
  await fleet.store.advance(60_000);
  expect((sent.interactive - before.interactive) / 600).toBeGreaterThanOrEqual(0.65);
  expect((sent.background - before.background) / 600).toBeGreaterThanOrEqual(0.1);
  isOver = true;
  await fleet.store.advance(40_000);
  before.background = sent.background;
  await fleet.store.advance(20_000);
  expect(sent.background - before.background).toBe(200);
  expect(service.limiters.requests.refused).toBe(0);
});

test.each([
  ["an export", ["requests"], 1],
  ["an ingestion", ["requests", "events"], 50],
] as const)(
  "interactive calls go before %s of another process, which keeps the rest",
  async (_, budgets, size) => {
    const service = simulatedService(fleet.clock, {
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
    await fleet.store.advance(2 * windowMs);
    const before = service.limiters[narrowest].accepted;
    const tookMs: number[] = [];
    for (let second = 0; second < 120; second += 1) {
      const since = fleet.clock.now();
      void interactive.send(requestOn(budgets)).then(() => tookMs.push(fleet.clock.now() - since));
      await fleet.store.advance(1_000);
    }
    const done = service.limiters[narrowest].accepted - before - 120;
    expect(Math.max(...tookMs)).toBeLessThanOrEqual(1_500);
    expect(tookMs.length).toBeGreaterThanOrEqual(119);
    expect(done / ((120_000 / windowMs) * max)).toBeGreaterThanOrEqual(0.8);
    expect(service.limiters.requests.refused + service.limiters.events.refused).toBe(0);
  },
);

test("the time until a request's end is told is part of its window", async () => {
  const sentAt: number[] = [];
  const next: Send = async () => {
    sentAt.push(fleet.clock.now());
    return answered();
  };
  const { send } = join(next, { requests: { max: 1, windowMs: 10_000 } });
  for (let at = 0; at < 3; at += 1) void send(call);
  await fleet.store.advance(25_000);
  // A window and its margins after the last one, and a message's way: not later by what was waited with the message.
  expect(sentAt.map((at, place) => Math.floor(at - (sentAt[place - 1] ?? at)))).toEqual([0, 10_009, 10_009]);
});
