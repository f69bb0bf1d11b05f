import { expect, test } from "vitest";
import { LatencyFloor, latencyFloorFor } from "../../../src/rate-limit/permits.ts";

const many = (ms: (at: number) => number): number[] => Array.from({ length: 110 }, (_, at) => ms(at));

/** Round trips, one every 10 ms: the first hundred are a whole stretch. */
const seen = (times: readonly number[], slackMs = 0): LatencyFloor => {
  const trips = new LatencyFloor(1_000, { slackMs, mostMs: 300 });
  for (const [at, ms] of times.entries()) trips.add(ms, at * 10);
  return trips;
};

test("the floor of a constant latency is that latency", () => {
  expect(seen(many(() => 50)).floorMs).toBe(50);
});

test("there is no floor before a whole stretch of time: a start, or a busy moment, slows every answer", () => {
  const constant = many(() => 50);
  expect([seen(constant.slice(0, 100)).floorMs, seen(constant.slice(0, 101)).floorMs]).toEqual([0, 50]);
});

test("a few round trips have no floor: all of them may have been slow by chance", () => {
  const trips = new LatencyFloor(1_000, { slackMs: 0, mostMs: 300 });
  for (let at = 0; at < 20; at += 1) trips.add(50, at * 100);
  expect(trips.floorMs).toBe(0);
  trips.add(50, 2_000);
  expect(trips.floorMs).toBe(50);
});

test("latency that varies from nothing on has no floor", () => {
  expect(seen(many((at) => (at * 37) % 100)).floorMs).toBe(0);
});

test("latency that varies about its middle keeps clear of its least", () => {
  expect(seen(many((at) => 200 + (at % 2) * 20)).floorMs).toBe(190);
});

test("the floor keeps its slack below what was seen, and a latency within it has none", () => {
  expect([
    seen(
      many(() => 50),
      15,
    ).floorMs,
    seen(
      many(() => 8),
      15,
    ).floorMs,
  ]).toEqual([35, 0]);
});

test("the slack of a limit is a part of its window, of a long one no more than of a second", () => {
  const floors = [200, 1_000, 10_000].map((windowMs) => {
    const trips = latencyFloorFor(windowMs);
    for (let at = 0; at < 300; at += 1) trips.add(50, at * windowMs);
    return trips.floorMs;
  });
  expect(floors).toEqual([47, 35, 35]);
});

test("the floor is never more than allowed", () => {
  expect(seen(many(() => 5_000)).floorMs).toBe(300);
});

test("one quicker answer lowers the floor at once", () => {
  expect(seen([...many(() => 50), 10]).floorMs).toBe(0);
});

test("a slow moment raises no floor: the quick answers before it are remembered", () => {
  // The least of all, less the average excess over it.
  expect(seen([...many(() => 40), ...many(() => 50)]).floorMs).toBe(35);
});

test("the floor forgets what is older than six stretches", () => {
  expect(seen([...many(() => 40), ...Array.from({ length: 701 }, () => 80)]).floorMs).toBe(80);
});

test("what a few answers told long ago says nothing of now", () => {
  const trips = seen(many(() => 50));
  trips.add(50, 21_001);
  expect(trips.floorMs).toBe(0);
});
