import { describe, expect, test, vi } from "vitest";
import type { LeasedBudget } from "../../../src/options/shared-limits.ts";
import { LocalLeases } from "../../../src/rate-limit/local-permits.ts";

/** A budget with so many permits, and each grant as it comes. */
const budgetWith = (change: { leased?: number; lacking?: number }) => {
  const granted: number[] = [];
  let heard: (() => void)[] = [];
  const budget: LeasedBudget & { leased: number; lacking: number } = {
    leased: 0,
    lacking: 0,
    idle: 0,
    spareFor: () => 0,
    owed: 0,
    leavesInMs: undefined,
    allowanceMs: 0,
    waiters: 0,
    isProbing: false,
    grant: (count) => {
      granted.push(count);
      budget.leased += count;
      for (const hear of heard) hear();
      heard = [];
    },
    retire: () => undefined,
    pause: () => undefined,
    changed: () => undefined,
    ...change,
  };
  const nextGrant = (): Promise<void> => new Promise((resolve) => heard.push(resolve));
  return { budget, granted, nextGrant };
};

/** Leases of a budget that holds what it has from the start, or says otherwise. */
const leasing = (max: number, change: { leased?: number; lacking?: number } = {}) => {
  const leases = new LocalLeases(max);
  const opened = budgetWith({ leased: leases.initial, ...change });
  leases.attach(opened.budget);
  /** What is granted when more is wanted. */
  const grantOf = async (lacking: number): Promise<number | undefined> => {
    opened.budget.lacking = lacking;
    const next = opened.nextGrant();
    leases.want();
    await next;
    return opened.granted.at(-1);
  };
  return { leases, ...opened, grantOf };
};

test("a first block is in hand at once: a twentieth of the limit, and 25 at least if there are as many", () => {
  expect([10, 100, 510, 2_000].map((max) => new LocalLeases(max).initial)).toEqual([10, 25, 26, 100]);
});

test("a process of its own shares with nobody and is never out of reach", () => {
  const { isValid, givesUpAt, usedElsewhere, comesAt } = new LocalLeases(10);
  expect([isValid, givesUpAt, usedElsewhere, comesAt]).toEqual([true, undefined, 0, 0]);
});

describe("whoever lacks permits is granted", () => {
  test("a block at least", async () => {
    expect(await leasing(510).grantOf(3)).toBe(26);
  });

  test("as many as it lacks when that is more", async () => {
    expect(await leasing(510).grantOf(40)).toBe(40);
  });

  test("no more than the limit still allows, and nothing after that", async () => {
    const { leases, budget, granted, grantOf } = leasing(510);
    await grantOf(470);
    expect(await grantOf(20)).toBe(14);
    leases.want();
    const other = leasing(510);
    await other.grantOf(1);
    expect([granted, budget.leased]).toEqual([[470, 14], 510]);
  });
});

test("whoever asks again while permits are on their way is granted them once", async () => {
  const { leases, granted, grantOf } = leasing(510);
  const first = grantOf(1);
  leases.want();
  leases.want();
  await first;
  await grantOf(60);
  expect(granted).toEqual([26, 60]);
});

test("nothing is asked for before there is a budget", async () => {
  const leases = new LocalLeases(10);
  expect(() => leases.want()).not.toThrow();
});

test("what was in hand from the start is leased too, until the end gives all of it back", async () => {
  // It holds none at the start, as far as it says, and wants all there are.
  const { leases, granted, nextGrant } = leasing(20, { leased: 0, lacking: 20 });
  const next = nextGrant();
  leases.want();
  await leasing(510).grantOf(1);
  expect(granted).toEqual([]);
  await leases.close();
  await next;
  expect(granted).toEqual([20]);
});

test("once closed, no lease is begun, the one that is on its way included", async () => {
  const { default: Bottleneck } = await import("bottleneck/light");
  const schedule = vi.spyOn(Bottleneck.prototype, "schedule");
  const { leases, budget, nextGrant } = leasing(100);
  budget.lacking = 5;
  const next = nextGrant();
  leases.want();
  await leases.close();
  await next;
  leases.want();
  expect(schedule).not.toHaveBeenCalled();
  schedule.mockRestore();
});
