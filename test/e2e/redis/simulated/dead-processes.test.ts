import { expect, test } from "vitest";
import type { HttpRequest } from "../../../../src/http/message.ts";
import { AttemptFailure, type Send } from "../../../../src/http/types.ts";
import { answered } from "../../../support/paced.ts";
import { call, counting, limits, saturate, simulatedFleet } from "../../../support/simulated-fleet.ts";

const fleet = simulatedFleet();
const { join, strict, mortal } = fleet;

test("the permits of a killed process come back three seconds and a window after its last message", async () => {
  const { send, limiters } = strict();
  const { life, redis, dying } = mortal();
  saturate(join(send), call);
  // Slow, so that most of its permits are in flight as it dies.
  const slow = dying(async (sending, request) => {
    const answer = await send(sending, request);
    await fleet.clock.sleep(2_000);
    return answer;
  });
  saturate(join(slow, {}, { redis }), call);
  await fleet.store.advance(5_000);
  life.isOver = true;
  await fleet.store.advance(1_200);
  const shareOver = async (ms: number): Promise<number> => {
    const before = limiters.requests.accepted;
    await fleet.store.advance(ms);
    return (limiters.requests.accepted - before) / ((ms / 1_000) * limits.requests.max);
  };
  expect(await shareOver(2_000)).toBeLessThanOrEqual(0.8);
  await fleet.store.advance(1_000);
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
  await fleet.store.advance(100);
  void other.send(call);
  await fleet.store.advance(20_000);
  expect([answers.length, taken.count]).toEqual([50, 0]);
  for (const answer of answers) answer(answered());
  await fleet.store.advance(1_500);
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
  await fleet.store.advance(10_000);
  life.isOver = true;
  const isHeld = () => underWay.map(({ admission }) => admission?.mustWaitAgain);
  const before = isHeld();
  // Its last message is up to 750 ms old.
  await fleet.store.advance(1_250);
  const meanwhile = isHeld();
  await fleet.store.advance(750);
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
  await fleet.store.advance(5_000);
  life.isOver = true;
  await fleet.store.advance(10_000);
  life.isOver = false;
  thaw();
  await fleet.store.advance(10_000);
  const before = limiters.requests.accepted;
  await fleet.store.advance(10_000);
  expect(limiters.requests.refused).toBe(0);
  expect((limiters.requests.accepted - before) / (10 * limits.requests.max)).toBeGreaterThanOrEqual(0.97);
});

test("after a flush, processes that used Redis before wait 3 s and a window and exceed no limit", async () => {
  const { send, limiters } = strict();
  for (let at = 0; at < 3; at += 1) saturate(join(send), call);
  await fleet.store.advance(5_000);
  await fleet.store.redis.flushall();
  await fleet.store.advance(4_100);
  const before = limiters.requests.accepted;
  await fleet.store.advance(20_000);
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
  await fleet.store.advance(5_000);
  for (let at = 0; at < 50; at += 1) slow.send(call).catch(() => undefined);
  await fleet.store.advance(10);
  life.isOver = true;
  await fleet.store.redis.flushall();
  for (let at = 0; at < 50; at += 1) void other.send(call);
  await fleet.store.advance(1_900);
  connect();
  await fleet.store.advance(10_000);
  expect([limiters.requests.accepted, limiters.requests.refused]).toEqual([101, 0]);
});

test("a request that was never sent is given back, for the window and the day", async () => {
  const unsent: Send = async () => {
    throw new AttemptFailure("connection", "refused", { wasSent: false });
  };
  const scarce = { requests: { max: 1, windowMs: 60_000 }, requestsPerDay: 1 };
  const failure = join(unsent, scarce)
    .send(call)
    .catch((error: unknown) => error);
  await fleet.store.advance(10);
  expect(await failure).toBeInstanceOf(AttemptFailure);
  const sent = join(async () => answered(), scarce).send(call);
  await fleet.store.advance(10);
  expect((await sent).status).toBe(200);
});
