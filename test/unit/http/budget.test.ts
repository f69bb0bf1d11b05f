import { describe, expect, test } from "vitest";
import { Budget } from "../../../src/http/budget.ts";
import type { Passage } from "../../../src/http/lanes.ts";
import { fixedLeases } from "../../../src/http/leases.ts";
import type { LeaseSource } from "../../../src/sharing.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const someone = (): Passage => ({
  weight: 1,
  signal: undefined,
  refusal: () => undefined,
  admitted: () => undefined,
  stopped: () => undefined,
});

const open = (max = 10, source: LeaseSource = fixedLeases(max)) => {
  const clock = new FakeClock();
  let changes = 0;
  const onChange = (): void => {
    changes += 1;
  };
  const budget = new Budget("events", { max, perMs: 1_000 }, { clock, onChange, source });
  return { clock, budget, changes: () => changes };
};

test("a permit comes back a window and its margin after the answer", async () => {
  const { clock, budget } = open(1);
  const by = someone();
  budget.take(1, by);
  await clock.advance(300);
  budget.settle(1, by, 300);
  await clock.advance(1_001);
  expect(budget.has(1)).toBe(false);
  await clock.advance(0.1);
  expect(budget.has(1)).toBe(true);
});

test("a request that never left gives its permit back at once", () => {
  const { budget } = open(1);
  const by = someone();
  budget.take(1, by);
  budget.refund(1, by);
  expect(budget.has(1)).toBe(true);
});

test("a batch larger than the limit takes all of it, for as many windows as it fills", async () => {
  const { clock, budget } = open(10);
  const by = someone();
  expect(budget.has(25)).toBe(true);
  budget.take(25, by);
  budget.settle(25, by, 0);
  await clock.advance(2_501);
  expect(budget.has(1)).toBe(false);
  await clock.advance(1);
  expect(budget.has(10)).toBe(true);
});

/** One use at a time, each answered after `ms`, until the latency is known. */
const learn = async ({ clock, budget }: ReturnType<typeof open>, ms: number): Promise<void> => {
  for (let at = 0; at < 21; at += 1) {
    const by = someone();
    budget.take(1, by);
    await clock.advance(ms);
    budget.settle(1, by, ms);
    await clock.advance(1_002);
    expect(budget.has(1)).toBe(true);
  }
};

test("constant latency costs next to nothing once it is known", async () => {
  const opened = open(1);
  const { clock, budget } = opened;
  await learn(opened, 50);
  const by = someone();
  budget.take(1, by);
  await clock.advance(50);
  budget.settle(1, by, 50);
  await clock.advance(966);
  expect(budget.has(1)).toBe(false);
  await clock.advance(1);
  expect(budget.has(1)).toBe(true);
});

test("a request without an answer is given no such allowance", async () => {
  const opened = open(2);
  const { clock, budget } = opened;
  await learn(opened, 200);
  budget.take(2, someone());
  budget.settle(2, someone(), undefined);
  await clock.advance(1_001);
  expect(budget.has(1)).toBe(false);
});

describe("after a pause", () => {
  test("nothing goes before its time, then one, and the rest when that one is through", async () => {
    const { clock, budget } = open();
    budget.pause(2_000);
    await clock.advance(1_999);
    expect(budget.has(1)).toBe(false);
    await clock.advance(1);
    expect(budget.has(1)).toBe(true);
    const probe = someone();
    budget.take(1, probe);
    expect(budget.has(1)).toBe(false);
    budget.settle(1, probe, 10);
    expect(budget.has(1)).toBe(true);
  });

  test("the late answer to an older request does not end the probe", async () => {
    const { clock, budget } = open();
    const older = someone();
    budget.take(1, older);
    budget.pause(100);
    await clock.advance(100);
    const probe = someone();
    budget.take(1, probe);
    budget.settle(1, older, 10);
    expect(budget.has(1)).toBe(false);
  });

  test("a probe that is told to wait pauses again and another probe follows", async () => {
    const { clock, budget } = open();
    budget.pause(100);
    await clock.advance(100);
    const probe = someone();
    budget.take(1, probe);
    budget.pause(500);
    budget.settle(1, probe, 10);
    await clock.advance(499);
    expect(budget.has(1)).toBe(false);
    await clock.advance(1);
    budget.take(1, someone());
    expect(budget.has(1)).toBe(false);
  });

  test("a probe that never left leaves its turn to the next", async () => {
    const { clock, budget } = open();
    budget.pause(100);
    await clock.advance(100);
    const probe = someone();
    budget.take(1, probe);
    budget.refund(1, probe);
    budget.take(1, someone());
    expect(budget.has(1)).toBe(false);
  });
});

test("a shorter pause never cuts a longer one", async () => {
  const { clock, budget } = open();
  budget.pause(1_000);
  budget.pause(10);
  await clock.advance(999);
  expect([budget.has(1), budget.pausedForMs]).toEqual([false, 1]);
});

test("those who wait are looked at when the next permit is back, and no timer outlives them", async () => {
  const { clock, budget, changes } = open(1);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 0);
  budget.want(1);
  expect(clock.nextInMs).toBeCloseTo(1_001.1);
  await clock.advance(1_002);
  expect(changes()).toBe(2);
  budget.take(1, by);
  budget.settle(1, by, 0);
  budget.want(1);
  budget.rest();
  expect(clock.pending).toBe(0);
});

test("whoever is told to wait for what has just come free is looked at again at once", async () => {
  const { clock, budget, changes } = open(1);
  budget.pause(100);
  expect(budget.has(1)).toBe(false);
  // The pause ends between the question and the answer to it, and no timer is left to tell of it.
  await clock.advance(100);
  budget.want(1);
  expect(clock.nextInMs).toBe(0);
  await clock.advance(0);
  expect(changes()).toBe(1);
});

test("it tells what is used, what is left, and when more frees", async () => {
  const { clock, budget } = open(2);
  const by = someone();
  budget.take(2, by);
  await clock.advance(100);
  budget.settle(2, by, 100);
  await clock.advance(1);
  expect(budget.state).toEqual({
    used: 2,
    left: 0,
    freesInMs: 1_001,
    pausedUntil: undefined,
    pausedBy: undefined,
  });
  budget.heed(5_000, "429 on events.record");
  expect(budget.state).toEqual({
    used: 2,
    left: 0,
    freesInMs: 5_000,
    pausedUntil: clock.wallTime() + 5_000,
    pausedBy: "429 on events.record",
  });
});

test("without a limit it tells that nothing is used", () => {
  expect(open(Number.POSITIVE_INFINITY).budget.state).toEqual({
    used: 0,
    left: Number.POSITIVE_INFINITY,
    freesInMs: 0,
    pausedUntil: undefined,
    pausedBy: undefined,
  });
});

test("permits that are called back leave at once when idle, and as they cool when not", async () => {
  const { clock, budget } = open(4);
  const by = someone();
  budget.take(3, by);
  budget.settle(3, by, 0);
  budget.retire(2);
  expect([budget.leased, budget.idle]).toEqual([3, 0]);
  await clock.advance(1_002);
  expect([budget.idle, budget.leased]).toEqual([2, 2]);
});

test("no permit is given back twice, or made of nothing", () => {
  const { budget } = open(10);
  budget.retire(4);
  expect([budget.leased, budget.idle, budget.owed]).toEqual([6, 6, 0]);
  budget.grant(1);
  expect([budget.leased, budget.idle]).toEqual([7, 7]);
});

test("a permit that came back early by this process's latency leaves in its full time", async () => {
  const opened = open(1);
  const { clock, budget } = opened;
  await learn(opened, 100);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 100);
  await clock.advance(917);
  expect(budget.idle).toBe(1);
  budget.retire(1);
  expect([budget.idle, budget.leased, budget.owed]).toEqual([0, 1, 1]);
  await clock.advance(84);
  expect(budget.leased).toBe(1);
  await clock.advance(1);
  expect([budget.leased, budget.owed]).toEqual([0, 0]);
});

test("a permit that came back early leaves no earlier when the latency falls before it is called back", async () => {
  const opened = open(2);
  const { clock, budget } = opened;
  await learn(opened, 100);
  const [slow, quick] = [someone(), someone()];
  budget.take(1, slow);
  budget.settle(1, slow, 100);
  await clock.advance(917);
  expect(budget.idle).toBe(2);
  budget.take(1, quick);
  budget.settle(1, quick, 0);
  budget.retire(1);
  expect([budget.idle, budget.leased]).toEqual([0, 2]);
  await clock.advance(85);
  expect(budget.leased).toBe(1);
});

test("permits whose lease has lapsed are not used", () => {
  const { budget } = open(4, { ...fixedLeases(4), isValid: false });
  expect(budget.has(1)).toBe(false);
});

test("permits that have cooled while no lease is valid wake nobody", async () => {
  const source = { ...fixedLeases(1), isValid: true };
  const { clock, budget } = open(1, source);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 0);
  source.isValid = false;
  await clock.advance(2_000);
  budget.want(1);
  expect(clock.pending).toBe(0);
});

test("a source that is out of reach is waited for until it gives up", async () => {
  const { clock, budget, changes } = open(1, { ...fixedLeases(0), isValid: false, givesUpAt: 500 });
  budget.want(1);
  await clock.advance(499);
  expect([budget.isLost, changes()]).toEqual([false, 0]);
  await clock.advance(1);
  expect([budget.isLost, changes()]).toEqual([true, 1]);
});
