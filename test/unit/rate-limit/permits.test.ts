import { describe, expect, test } from "vitest";
import { Permits } from "../../../src/rate-limit/permits.ts";
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

  test("what the source has to bring for the first request at once, and nobody can say when for the second", () => {
    const { permits } = open(3);
    expect([4, 5].map((amount) => permits.readyInMs(amount, 4))).toEqual([0, Number.POSITIVE_INFINITY]);
    expect(open(4).permits.readyInMs(8, 4)).toBe(1_000);
  });

  test("a batch larger than the limit is no larger than the limit", () => {
    expect(open(10).permits.readyInMs(25, 25)).toBe(2_000);
  });

  test("what is called back does not come back", async () => {
    const { permits } = await twoBatches();
    permits.retire(2);
    expect([4, 5, 9].map((amount) => Math.floor(permits.readyInMs(amount, 1)))).toEqual([701, 1_001, 1_701]);
  });
});

test("of what one has used it tells what is not back yet, and comes back in time", async () => {
  const { clock, permits } = open();
  const [one, other] = [{}, {}];
  for (const [weight, by] of [
    [6, one],
    [1, other],
  ] as const) {
    permits.take(weight);
    permits.cool(weight, 0, by);
  }
  permits.take(3);
  permits.cool(3, undefined, one);
  const back = (ms: number): number[] => [one, other].map((by) => permits.backWithin(ms, by));
  expect([1_001, 1_002, 1_334, 1_335].map(back)).toEqual([
    [0, 0],
    [6, 1],
    [6, 1],
    [9, 1],
  ]);
  await clock.advance(1_002);
  expect(back(9_999)).toEqual([3, 0]);
});

test("a permit is not in hand before a window and its margin are over", async () => {
  const { clock, permits } = open();
  permits.take(1);
  permits.cool(1, 0);
  const inHand: number[] = [];
  for (const ms of [1_000.5, 0.5, 0.1]) {
    await clock.advance(ms);
    permits.thaw(clock.now());
    inHand.push(permits.inHand);
  }
  expect(inHand).toEqual([9, 9, 10]);
});

test("the allowance for the latency counts", async () => {
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
  const by = {};
  permits.cool(10, 100, by);
  expect(permits.readyInMs(10, 10)).toBeCloseTo(916.1);
  expect([permits.backWithin(916, by), permits.backWithin(917, by)]).toEqual([0, 10]);
});

describe("what was not needed for so long", () => {
  /** Ten in hand, of which none was needed for 100 ms. */
  const unused = async () => {
    const { clock, permits } = open();
    permits.unneededFor(100);
    await clock.advance(100);
    permits.unneededFor(100);
    expect(permits.unneededFor(100)).toBe(10);
    return permits;
  };

  test("is without those that were used, though they are back", async () => {
    const permits = await unused();
    permits.take(3);
    permits.putBack(3);
    expect(permits.unneededFor(100)).toBe(7);
  });

  test("is without those that went and came again", async () => {
    const permits = await unused();
    permits.retire(4);
    permits.grant(4);
    expect(permits.unneededFor(100)).toBe(6);
  });
});
