import { expect, test } from "vitest";
import { IdleMinimum } from "../../../src/rate-limit/permits.ts";

const over = (water: IdleMinimum, level: number, now: number): number => water.over(100, { level, now });

test("a level that was never read is unknown", () => {
  expect(over(new IdleMinimum(), 9, 0)).toBe(0);
});

test("what has been there for a whole stretch was not needed", () => {
  const water = new IdleMinimum();
  expect([0, 50, 99, 100, 101, 150].map((now) => over(water, 9, now))).toEqual([0, 0, 0, 0, 9, 9]);
});

test("a level that falls counts for the rest of its stretch, and for the next", () => {
  const water = new IdleMinimum();
  for (const now of [0, 100, 200]) over(water, 9, now);
  water.fell(4);
  water.fell(6);
  expect([250, 300, 399, 400, 401].map((now) => over(water, 9, now))).toEqual([4, 4, 4, 4, 9]);
});

test("it is never more than the level now, which is remembered", () => {
  const water = new IdleMinimum();
  for (const now of [0, 100]) over(water, 9, now);
  expect([8, 3, 9, 9].map((level, at) => over(water, level, 200 + at))).toEqual([8, 3, 8, 8]);
});
