import { describe, expect, test } from "vitest";
import { Permits } from "../../../src/rate-limit/permits.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const me = {};

/** Ten permits a second. */
const open = () => {
  const clock = new FakeClock();
  return { clock, permits: new Permits<object>({ max: 10, windowMs: 1_000 }, clock) };
};

/** Six are back in 701.1 ms, four in 1,001.1 ms. */
const twoBatches = async () => {
  const { clock, permits } = open();
  for (const weight of [6, 4]) permits.take(weight, me);
  permits.cool(6, 0, me);
  await clock.advance(300);
  permits.cool(4, 0, me);
  return { clock, permits };
};

describe("in how long so many have come free at the earliest", () => {
  test("permits that are free, at once", () => {
    expect(open().permits.readyInMs(10)).toBe(0);
  });

  test("what cools when it is back, together with what is in hand", async () => {
    const { clock, permits } = await twoBatches();
    expect([1, 6, 7, 10].map((amount) => Math.floor(permits.readyInMs(amount)))).toEqual([
      701, 701, 1_001, 1_001,
    ]);
    await clock.advance(702);
    expect([permits.readyInMs(6), Math.floor(permits.readyInMs(7))]).toEqual([0, 299]);
  });

  test("what is in use a window after now", () => {
    const { permits } = open();
    permits.take(4, me);
    expect([permits.readyInMs(6), permits.readyInMs(10)]).toEqual([0, 1_000]);
  });

  test("what is more than all of it when all of it is back once more", async () => {
    const { permits } = await twoBatches();
    expect([16, 20, 26].map((amount) => Math.floor(permits.readyInMs(amount)))).toEqual([
      1_701, 2_001, 2_701,
    ]);
  });
});

test("a permit is not in hand before a window and its margin are over", async () => {
  const { clock, permits } = open();
  permits.take(1, me);
  permits.cool(1, 0, me);
  const idle: number[] = [];
  for (const ms of [1_000.5, 0.5, 0.1]) {
    await clock.advance(ms);
    idle.push(permits.idle);
  }
  expect(idle).toEqual([9, 9, 10]);
});

test("permits return on time behind a batch that cools for several windows", async () => {
  const clock = new FakeClock();
  const permits = new Permits<string>({ max: 10, windowMs: 1_000 }, clock);
  permits.take(4, "pages");
  permits.take(10, "batch");
  permits.cool(20, 0, "batch");
  permits.cool(4, 0, "pages");
  const held = [new Map(permits.taken), Math.floor(permits.backAt(1) ?? 0)];
  await clock.advance(1_002);
  expect([...held, new Map(permits.taken), Math.floor(permits.backAt(1) ?? 0)]).toEqual([
    new Map([
      ["pages", 4],
      ["batch", 10],
    ]),
    1_001,
    new Map([["batch", 10]]),
    2_001,
  ]);
  await clock.advance(1_000);
  expect([permits.taken.size, permits.idle, permits.backAt(1)]).toEqual([0, 10, undefined]);
});

test("the allowance for the latency counts", async () => {
  const { clock, permits } = open();
  for (let at = 0; at < 300; at += 1) {
    permits.take(1, me);
    await clock.advance(100);
    permits.cool(1, 100, me);
  }
  await clock.advance(1_000);
  permits.take(10, me);
  permits.cool(10, 100, me);
  expect(permits.readyInMs(10)).toBeCloseTo(916.1);
});
