import { describe, expect, test } from "vitest";
import { Permits } from "../../../src/http/permits.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** Ten permits a second, so many of them leased. */
const open = (leased = 10) => {
  const clock = new FakeClock();
  return { clock, permits: new Permits({ max: 10, perMs: 1_000 }, clock, leased) };
};

/** Six are back in 701.1 ms, four in 1,001.1 ms. */
const twoBatches = async () => {
  const { clock, permits } = open();
  for (const weight of [6, 4]) permits.take(weight);
  permits.cool(6, 0);
  await clock.advance(300);
  permits.cool(4, 0);
  return { clock, permits };
};

describe("in how long so many have been let through", () => {
  test("what is in hand at once", () => {
    expect(open().permits.readyInMs(10, 5)).toBe(0);
  });

  test("what cools when it is back", async () => {
    const { permits } = await twoBatches();
    const times = [1, 6, 7, 10].map((amount) => permits.readyInMs(amount, 1));
    expect(times.map(Math.floor)).toEqual([701, 701, 1_001, 1_001]);
  });

  test("what is in hand and what cools together", async () => {
    const { clock, permits } = await twoBatches();
    await clock.advance(702);
    expect([permits.readyInMs(6, 6), Math.floor(permits.readyInMs(7, 7))]).toEqual([0, 299]);
  });

  test("what is in use a window after now at the earliest", () => {
    const { permits } = open();
    permits.take(4);
    expect([permits.readyInMs(6, 6), permits.readyInMs(10, 10)]).toEqual([0, 1_000]);
  });

  test("what is in use is not taken for what cools", async () => {
    const { permits } = open();
    for (const weight of [6, 4]) permits.take(weight);
    permits.cool(6, 0);
    expect([permits.readyInMs(6, 6), permits.readyInMs(8, 8)].map(Math.floor)).toEqual([1_001, 1_000]);
  });

  test("what is more than all of it when all of it is back once more", async () => {
    const { permits } = await twoBatches();
    const times = [16, 20, 26].map((amount) => permits.readyInMs(amount, 5));
    expect(times.map(Math.floor)).toEqual([1_701, 2_001, 2_701]);
  });

  test("what the source has to bring now, and each batch after it a window later", () => {
    const { permits } = open(3);
    expect([4, 8, 12].map((amount) => permits.readyInMs(amount, 4))).toEqual([0, 1_000, 2_000]);
  });

  test("a batch larger than the limit is no larger than the limit", () => {
    expect([25, 50].map((amount) => open(0).permits.readyInMs(amount, 25))).toEqual([1_500, 4_000]);
    expect(open(10).permits.readyInMs(25, 25)).toBe(2_000);
  });

  test("what is called back does not come back", async () => {
    const { permits } = await twoBatches();
    permits.retire(4);
    const times = [2, 3, 6, 7].map((amount) => permits.readyInMs(amount, 1));
    expect(times.map(Math.floor)).toEqual([701, 1_001, 1_001, 1_701]);
  });
});

describe("how many come back in time", () => {
  test("those that have cooled by then, as far as they are counted", async () => {
    const { permits } = await twoBatches();
    expect([701, 702, 1_001, 1_002].map((ms) => permits.backWithin(ms, 20))).toEqual([0, 6, 6, 10]);
    expect(permits.backWithin(1_002, 3)).toBe(3);
  });

  test("but for those that are called back", async () => {
    const { permits } = await twoBatches();
    permits.retire(7);
    expect([702, 1_002].map((ms) => permits.backWithin(ms, 20))).toEqual([0, 3]);
    expect(permits.backWithin(1_002, 2)).toBe(2);
  });
});

test("the allowance for the latency counts in both", async () => {
  const { clock, permits } = open();
  for (let at = 0; at < 300; at += 1) {
    permits.take(1);
    await clock.advance(100);
    permits.cool(1, 100);
  }
  const { allowanceMs } = permits;
  expect(allowanceMs).toBeCloseTo(85);
  await clock.advance(1_000);
  permits.take(10);
  expect(permits.readyInMs(10, 10)).toBeCloseTo(915);
  permits.cool(10, 100);
  expect(permits.readyInMs(10, 10)).toBeCloseTo(916.1);
  expect([permits.backWithin(916, 10), permits.backWithin(917, 10)]).toEqual([0, 10]);
});
