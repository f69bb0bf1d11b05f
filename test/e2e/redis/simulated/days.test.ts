import { expect, test } from "vitest";
import type { Send } from "../../../../src/http/types.ts";
import { answered } from "../../../support/paced.ts";
import { call, simulatedFleet } from "../../../support/simulated-fleet.ts";

const dayMs = 86_400_000;
const fleet = simulatedFleet();
const { join, watched } = fleet;

test("a day that is used up stays so for a process that is started anew, also after a kill", async () => {
  const day = { requestsPerDay: 5 };
  const first = join(async () => answered(), day);
  for (let at = 0; at < 5; at += 1) void first.send(call);
  await fleet.store.advance(1_000);
  const second = join(async () => answered(), day);
  const refused = second.send(call).catch((error: unknown) => error);
  await fleet.store.advance(1_000);
  expect(await refused).toMatchObject({ name: "RateLimitError", outcome: "not-applied" });
  expect(second.limiter.state().requestsPerDay).toMatchObject({ used: 5, remaining: 0 });
  await fleet.store.advance(dayMs + 300_000);
  const third = second.send(call);
  await fleet.store.advance(1_000);
  expect((await third).status).toBe(200);
});

test("after a flush a process tells what it used in the last 24 hours, and no more", async () => {
  const { limiter, send } = join(async () => answered());
  const use = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) void send(call);
    await fleet.store.advance(4_500);
  };
  await use(5);
  await fleet.store.advance(dayMs + 300_000);
  await use(3);
  await fleet.store.redis.flushall();
  await use(1);
  await use(1);
  expect(limiter.state().requestsPerDay.used).toBe(5);
});

test("use whose report is repeated for want of an answer counts once", async () => {
  const { line, redis } = watched();
  const { limiter, send } = join(async () => answered(), {}, { redis });
  void send(call);
  await fleet.store.advance(100);
  line.isDeaf = true;
  for (let at = 0; at < 3; at += 1) void send(call);
  await fleet.store.advance(10_000);
  line.isDeaf = false;
  void send(call);
  await fleet.store.advance(1_000);
  const other = join(async () => answered());
  void other.send(call);
  await fleet.store.advance(1_000);
  expect([limiter, other.limiter].map((one) => one.state().requestsPerDay.used)).toEqual([5, 6]);
});

test("a day outlives the loss of its key while a process runs that used it", async () => {
  const sent: number[] = [];
  const next: Send = async () => {
    sent.push(fleet.clock.now());
    return answered();
  };
  const day = { requestsPerDay: 10 };
  const first = join(next, day);
  for (let at = 0; at < 5; at += 1) void first.send(call);
  await fleet.store.advance(1_000);
  void first.limiter.close();
  const second = join(next, day);
  for (let at = 0; at < 3; at += 1) void second.send(call);
  await fleet.store.advance(5_000);
  await fleet.store.redis.del("touchpoint:{limits}:id:fleet:requests");
  const third = join(next, day);
  const sends = [second, third].flatMap((one) => Array.from({ length: 8 }, () => one.send(call)));
  const outcomes = Promise.allSettled(sends);
  await fleet.store.advance(5_000);
  expect(sent.length).toBe(10);
  expect((await outcomes).filter(({ status }) => status === "rejected").length).toBe(14);
});

test("a call that went without Redis, and is granted by a late answer, counts for the day", async () => {
  const { limiter, send } = join(
    async () => answered(),
    { onLost: "open", share: 0.4 },
    { redis: fleet.store.commands(2_000) },
  );
  void send(call);
  await fleet.store.advance(60_000);
  void send(call);
  await fleet.store.advance(60_000);
  const other = join(async () => answered());
  void other.send(call);
  await fleet.store.advance(1_000);
  // What is taken for lost is reported again, and takes effect twice: above the truth, and never below.
  expect([limiter, other.limiter].map((one) => one.state().requestsPerDay.used)).toEqual([2, 4]);
});
