import fc from "fast-check";
import { expect, test } from "vitest";
import { LowWaterMark } from "../../../src/bulk/low-water-mark.ts";

test("the mark waits for the slowest", () => {
  const mark = new LowWaterMark();
  expect([mark.settle(1), mark.settle(2), mark.settle(0)]).toEqual([0, 0, 3]);
});

test("begins where an earlier run ended", () => {
  const mark = new LowWaterMark(10);
  expect([mark.mark, mark.settle(3), mark.settle(10)]).toEqual([10, 10, 11]);
});

test("in any order it is the first one unsettled, never runs back, and ends at the end", () => {
  const order = fc
    .integer({ min: 1, max: 60 })
    .chain((length) =>
      fc.shuffledSubarray([...Array(length).keys()], { minLength: length, maxLength: length }),
    );
  fc.assert(
    fc.property(order, (indexes) => {
      const mark = new LowWaterMark();
      const settled = new Set<number>();
      for (const index of indexes) {
        settled.add(index);
        let first = 0;
        while (settled.has(first)) first += 1;
        // Twice, as a repeated settling must change nothing.
        expect([mark.settle(index), mark.settle(index), mark.mark]).toEqual([first, first, first]);
      }
      expect(mark.mark).toBe(indexes.length);
    }),
  );
});
