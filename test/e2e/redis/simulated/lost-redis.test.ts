import { expect, test } from "vitest";
import { ConnectionError } from "../../../../src/errors.ts";
import type { Send } from "../../../../src/http/types.ts";
import type { IoredisCommands } from "../../../../src/redis/index.ts";
import { DeadlineExceeded } from "../../../../src/runtime/cancellation.ts";
import { answered, requestOn } from "../../../support/paced.ts";
import { call, limits, saturate, simulatedFleet } from "../../../support/simulated-fleet.ts";

const fleet = simulatedFleet();
const { join, strict, watched } = fleet;

test("calls wait up to maxLostMs for Redis, and are then refused until it is back", async () => {
  const { line, redis } = watched();
  line.isLost = true;
  const { send } = join(async () => answered(), { maxLostMs: 5_000 }, { redis });
  let refusal: unknown;
  void send(call).catch((error: unknown) => {
    refusal = error;
  });
  await fleet.store.advance(4_999);
  expect(refusal).toBe(undefined);
  await fleet.store.advance(200);
  expect(refusal).toBeInstanceOf(ConnectionError);
  expect(refusal).toMatchObject({ outcome: "not-applied", operation: "requests" });
  line.isLost = false;
  // The next call asks for it again.
  await expect(send(call)).rejects.toBeInstanceOf(ConnectionError);
  await fleet.store.advance(1_000);
  const back = send(call);
  await fleet.store.advance(100);
  expect((await back).status).toBe(200);
});

test("while Redis is out of reach budgets() and waits that end say so, and what decides", async () => {
  const { line, redis } = watched();
  const { limiter, send } = join(async () => answered(), { maxLostMs: 5_000 }, { redis });
  void send(call);
  await fleet.store.advance(100);
  line.isLost = true;
  await fleet.store.advance(200);
  const ended = new AbortController();
  const refusals = Promise.allSettled([
    send(requestOn(["requests"], { maxWaitMs: 500 })),
    send(requestOn(["requests"], { signal: ended.signal })),
  ]);
  await fleet.store.advance(500);
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
  await fleet.store.advance(500);
  expect(lostOnes()[0]).toEqual(["requests", undefined, 49]);
});

test("a Redis that never answers holds no close up", async () => {
  let isSilent = false;
  const commands = fleet.store.commands(1);
  const redis: IoredisCommands = {
    ...commands,
    eval: (...values) => (isSilent ? new Promise(() => undefined) : commands.eval(...values)),
  };
  const { limiter, send } = join(async () => answered(), {}, { redis });
  void send(call);
  await fleet.store.advance(200);
  isSilent = true;
  let isClosed = false;
  void limiter.close().then(() => {
    isClosed = true;
  });
  await fleet.store.advance(200);
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
    await fleet.store.advance(ms);
    return (limiters.requests.accepted - before) / ((ms / limits.requests.windowMs) * limits.requests.max);
  };
  await fleet.store.advance(5_000);
  for (const line of lines) line.isLost = true;
  // What was used last has to cool, and the leases have to end.
  await fleet.store.advance(2_500);
  expect(await shareOver(10_000)).toBeCloseTo(0.8, 1);
  for (const line of lines) line.isLost = false;
  await fleet.store.advance(2_500);
  expect(await shareOver(20_000)).toBeGreaterThanOrEqual(0.97);
  expect(limiters.requests.refused).toBe(0);
});

test("failing open, a process waits out a pause that the service asks for", async () => {
  const { line, redis } = watched();
  const sentAt: number[] = [];
  const next: Send = async () => {
    sentAt.push(fleet.clock.now());
    return sentAt.length === 1 ? answered(429, { "retry-after": "20" }) : answered();
  };
  line.isLost = true;
  const { send } = join(next, { onLost: "open", share: 0.4 }, { redis });
  void send(call);
  await fleet.store.advance(5_000);
  void send(call);
  await fleet.store.advance(25_000);
  const [first = 0, second = 0] = sentAt;
  expect([sentAt.length, second - first]).toEqual([2, 20_000]);
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
  await fleet.store.advance(100);
  line.isLost = true;
  await fleet.store.advance(900);
  answers.push(outcome());
  await fleet.store.advance(9_000);
  line.asked = [];
  await fleet.store.advance(10_000);
  answers.push(outcome());
  await fleet.store.advance(10_000);
  answers.push(outcome());
  await fleet.store.advance(10_000);
  expect(line.asked).toEqual([20_000, 30_000]);
  line.isLost = false;
  answers.push(outcome());
  await fleet.store.advance(10);
  answers.push(outcome());
  await fleet.store.advance(1_000);
  expect(await Promise.all(answers)).toEqual([200, ...Array(3).fill("not-applied"), 200, 200]);
});
