import { describe, expect, test } from "vitest";
import type { LeasedBudget, LeaseSource } from "../../../src/options/shared-limits.ts";
import { Budget } from "../../../src/rate-limit/budget.ts";
import { lane, type Passage } from "../../../src/rate-limit/lane.ts";
import { fixedLeases, LocalLeases } from "../../../src/rate-limit/local-permits.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const someone = (of = lane([], undefined)): Passage => ({
  lane: of,
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

test("nobody waits for a new one", () => {
  const { budget } = open();
  expect([budget.waiters, budget.has(1)]).toEqual([0, true]);
});

test("it tells what a lane has used, and what of that comes back, and what it lets through when", async () => {
  const { clock, budget } = open();
  const [one, other] = [someone(), someone()];
  for (const [weight, by] of [
    [6, one],
    [1, other],
  ] as const) {
    budget.take(weight, by);
    budget.settle(weight, by, 0);
  }
  await clock.advance(500);
  budget.take(2, one);
  budget.settle(2, one, 0);
  expect([budget.usedBy(one.lane.kind), budget.usedBy(other.lane.kind)]).toEqual([8, 1]);
  expect([501, 502, 1_002].map((ms) => budget.backWithin(ms, one.lane.kind))).toEqual([0, 6, 8]);
  expect([501, 502, 1_002].map((ms) => budget.backWithin(ms))).toEqual([0, 7, 9]);
  expect([1, 2, 9].map((amount) => Math.round(budget.readyInMs(amount, 1)))).toEqual([0, 501, 1_001]);
  // What is back counts no longer, though nobody has taken it in hand.
  await clock.advance(502);
  expect([budget.usedBy(one.lane.kind), budget.usedBy(other.lane.kind)]).toEqual([2, 0]);
});

test("while it is paused it lets nothing through, and while a probe is out nobody knows when", async () => {
  const { clock, budget } = open();
  budget.pause(700);
  expect([budget.readyInMs(1, 1), budget.readyInMs(30, 1)]).toEqual([700, 2_000]);
  await clock.advance(700);
  const probe = someone();
  budget.take(1, probe);
  expect(budget.readyInMs(1, 1)).toBe(Number.POSITIVE_INFINITY);
  budget.settle(1, probe, 0);
  expect(budget.readyInMs(1, 1)).toBe(0);
});

test("with too few permits for one request it is ready when its source brings some, and not before", async () => {
  const { clock, budget } = open(10, { ...fixedLeases(3), comesAt: 700 });
  expect([3, 4].map((each) => budget.readyInMs(each, each))).toEqual([0, 700]);
  await clock.advance(300);
  expect(budget.readyInMs(4, 4)).toBe(400);
  await clock.advance(500);
  expect([4, 8].map((amount) => budget.readyInMs(amount, 4))).toEqual([0, Number.POSITIVE_INFINITY]);
  expect(open(10, fixedLeases(3)).budget.readyInMs(4, 4)).toBe(0);
});

test("what is kept is not idle, until nobody waits any more", () => {
  const { budget } = open();
  const idle = [3, 12].map((count) => {
    budget.keep(count);
    return budget.idle;
  });
  budget.rest();
  expect([idle, budget.idle]).toEqual([[7, 0], 10]);
});

test("to spare is what was idle for so long, or all of it where nobody waits", async () => {
  const { clock, budget } = open();
  const [shortMs, longMs] = [100, 100_000];
  budget.take(10, someone());
  budget.waiters = 1;
  expect([budget.spareFor(shortMs), budget.idle]).toEqual([0, 0]);
  budget.refund(10, someone());
  expect([budget.spareFor(shortMs), budget.idle]).toEqual([0, 10]);
  await clock.advance(100);
  expect(budget.spareFor(shortMs)).toBe(0);
  await clock.advance(100);
  budget.take(3, someone());
  expect(budget.spareFor(shortMs)).toBe(0);
  await clock.advance(100);
  expect(budget.spareFor(shortMs)).toBe(7);
  budget.keep(6);
  expect(budget.spareFor(shortMs)).toBe(1);
  budget.keep(0);
  budget.refund(3, someone());
  expect(budget.spareFor(longMs)).toBe(7);
  budget.waiters = 0;
  expect(budget.spareFor(longMs)).toBe(10);
});

test("whoever waits is woken, however much time passes while it is asked", async () => {
  for (let beforeMs = 0; beforeMs < 2; beforeMs += 0.05) {
    const clock = new FakeClock();
    let aheadMs = 0;
    let stepMs = 0;
    // As a real clock, it goes on from one look at it to the next.
    const ticking: Clock = {
      now: () => {
        aheadMs += stepMs;
        return clock.now() + aheadMs;
      },
      wallTime: () => clock.wallTime() + aheadMs,
      after: (ms, callback) => clock.after(Math.max(0, ms), callback),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    };
    const source = new LocalLeases(1);
    const budget = new Budget("x", { max: 1, perMs: 1_000 }, { clock: ticking, onChange: () => {}, source });
    const by = someone();
    budget.take(1, by);
    budget.settle(1, by, 0);
    await clock.advance(1_001.1 - beforeMs);
    stepMs = 0.3;
    budget.want(1);
    expect([beforeMs, clock.pending]).toEqual([beforeMs, 1]);
  }
});

test("what was called back and has cooled counts as used no longer", async () => {
  const { clock, budget } = open(10);
  const [one, other] = [someone(), someone()];
  budget.take(4, one);
  budget.settle(4, one, 0);
  budget.take(6, other);
  budget.retire(3);
  await clock.advance(1_002);
  expect(budget.state.used).toBe(6);
});

test("a request that never left gives its permit back at once", () => {
  const { budget } = open(1);
  const by = someone();
  budget.take(1, by);
  budget.refund(1, by);
  expect(budget.has(1)).toBe(true);
});

test("a permit of a request without an answer comes back a third of a window later", async () => {
  const { clock, budget } = open(1);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, undefined);
  await clock.advance(1_334.4);
  expect(budget.has(1)).toBe(false);
  await clock.advance(0.1);
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

/** A source of so many permits, and what the budget tells it. */
const watchedLeases = (change: Partial<LeaseSource> = {}) => {
  const log: string[] = [];
  const source: LeaseSource = {
    ...fixedLeases(0),
    attach: () => log.push("attached"),
    want: () => log.push("wanted"),
    paused: (ms, by) => log.push(`paused for ${ms} by ${by}`),
    used: () => log.push("used"),
    close: async () => void log.push("closed"),
    ...change,
  };
  return { source, log };
};

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
    expect(budget.has(1)).toBe(true);
    budget.take(1, someone());
    expect(budget.has(1)).toBe(false);
  });
});

test("nobody can tell how long the one that goes first after a pause takes", async () => {
  const { clock, budget } = open(2);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 0);
  budget.pause(100);
  await clock.advance(100);
  expect(budget.waitMs()).toBe(902);
  budget.take(1, someone());
  expect(budget.waitMs()).toBe(0);
});

test("while one goes first after a pause, nobody is woken and no more permits are asked for", async () => {
  const { source, log } = watchedLeases({ initial: 2 });
  const { clock, budget } = open(2, source);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 0);
  budget.pause(100);
  await clock.advance(100);
  budget.take(1, someone());
  budget.want(1);
  expect([log, clock.pending]).toEqual([["attached", "used", "used"], 0]);
});

test("those who wait are looked at when the service asks to wait: for some that is too long", () => {
  const { budget, changes } = open();
  budget.heed(60_000, "429 on events.record");
  expect(changes()).toBe(1);
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
  expect(changes()).toBe(1);
  budget.take(1, by);
  budget.settle(1, by, 0);
  budget.want(1);
  budget.rest();
  expect(clock.pending).toBe(0);
});

test("once the latency is known, those who wait are looked at as much earlier", async () => {
  const opened = open(1);
  const { clock, budget } = opened;
  await learn(opened, 50);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 50);
  budget.want(1);
  expect([budget.waitMs(), clock.nextInMs]).toEqual([967, expect.closeTo(966.1)]);
});

test("a permit that comes back before those that were waited for wakes whoever waits then", async () => {
  const { clock, budget, changes } = open(2);
  const [unanswered, answered] = [someone(), someone()];
  budget.take(1, unanswered);
  budget.take(1, answered);
  budget.settle(1, unanswered, undefined);
  budget.want(1);
  await clock.advance(100);
  budget.settle(1, answered, 100);
  budget.want(1);
  expect([clock.nextInMs, clock.pending]).toEqual([expect.closeTo(1_001.1), 1]);
  await clock.advance(1_002);
  expect([changes(), clock.pending]).toEqual([1, 0]);
});

test("a timer that fires early is set once more", async () => {
  const clock = new FakeClock();
  const after = clock.after.bind(clock);
  let earlyMs = 0.5;
  clock.after = (ms, callback) => {
    const cancel = after(ms - earlyMs, callback);
    earlyMs = 0;
    return cancel;
  };
  const onChange = (): void => budget.want(1);
  const context = { clock, onChange, source: fixedLeases(1) };
  const budget: Budget = new Budget("events", { max: 1, perMs: 1_000 }, context);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 0);
  budget.want(1);
  await clock.advance(1_000.6);
  expect([clock.pending, clock.nextInMs]).toEqual([1, expect.closeTo(0.5)]);
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

test("it tells of a pause to its last millisecond, and of none that is over", async () => {
  const { clock, budget } = open(2);
  budget.heed(1_000, "429 on events.record");
  await clock.advance(999);
  const until = clock.wallTime() + 1;
  expect(budget.state).toMatchObject({ pausedUntil: until, pausedBy: "429 on events.record" });
  await clock.advance(1);
  expect(budget.state).toMatchObject({ pausedUntil: undefined, pausedBy: undefined });
});

test("as long as one is left, the next use is possible at once", () => {
  const { budget } = open(2);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 0);
  expect(budget.state).toMatchObject({ used: 1, left: 1, freesInMs: 0 });
});

test("what others use of it counts as used", () => {
  const { budget } = open(10, { ...fixedLeases(10), usedElsewhere: 3 });
  budget.take(1, someone());
  expect(budget.state).toMatchObject({ used: 4, left: 6 });
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
  expect([budget.state.used, budget.leavesInMs]).toEqual([0, expect.closeTo(85.001, 4)]);
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

test("a source is told of each use, of each wait, of a pause, and of the end", async () => {
  const { source, log } = watchedLeases({ initial: 1 });
  const { clock, budget } = open(10, source);
  const by = someone();
  budget.take(1, by);
  budget.settle(1, by, 0);
  budget.want(1);
  budget.heed(500, "429 on events.record");
  budget.seek();
  expect(log).toEqual(["attached", "used", "wanted", "paused for 500 by 429 on events.record", "wanted"]);
  await budget.close();
  expect([log.at(-1), clock.pending]).toEqual(["closed", 0]);
});

test("a source is named the budget that its permits are for", () => {
  const attached: LeasedBudget[] = [];
  const { source } = watchedLeases({ attach: (to) => attached.push(to) });
  const { budget } = open(10, source);
  expect(attached).toEqual([budget]);
});

test("a source that has changed has those who wait looked at again", () => {
  const { budget, changes } = open();
  budget.changed();
  expect(changes()).toBe(1);
});

describe("what those who wait lack", () => {
  test("is nothing when nobody waits, before and after", () => {
    const { budget } = open(10, fixedLeases(0));
    const before = budget.lacking;
    budget.want(3);
    budget.rest();
    expect([before, budget.lacking]).toEqual([0, 0]);
  });

  test("is what the first of them takes, less what is in hand", () => {
    const { budget } = open(10, fixedLeases(2));
    budget.want(5);
    expect(budget.lacking).toBe(3);
  });

  test("is never more than the limit", () => {
    const { budget } = open(10, fixedLeases(4));
    budget.want(25);
    expect(budget.lacking).toBe(6);
  });

  test("is nothing when only the leases have lapsed", () => {
    const { budget } = open(10, { ...fixedLeases(4), isValid: false });
    budget.want(1);
    expect(budget.lacking).toBe(0);
  });
});

describe("when the next permit leaves", () => {
  const used = (max: number) => {
    const opened = open(max);
    const by = someone();
    opened.budget.take(1, by);
    opened.budget.settle(1, by, 0);
    return opened;
  };

  test("is not told when none is called back", () => {
    expect(used(1).budget.leavesInMs).toBe(undefined);
  });

  test("is when it has cooled", async () => {
    const { clock, budget } = used(1);
    await clock.advance(1);
    budget.retire(1);
    expect(budget.leavesInMs).toBeCloseTo(1_000.101, 4);
    await clock.advance(5_000);
    expect(budget.leavesInMs).toBeCloseTo(0.001, 4);
    expect([budget.idle, budget.owed, budget.leavesInMs, budget.leased]).toEqual([0, 0, undefined, 0]);
  });

  test("is the earlier when one came back early and another is cooling", async () => {
    const opened = open(2);
    const { clock, budget } = opened;
    await learn(opened, 100);
    const [first, second] = [someone(), someone()];
    budget.take(1, first);
    budget.settle(1, first, 100);
    await clock.advance(500);
    budget.take(1, second);
    budget.settle(1, second, 100);
    await clock.advance(417);
    budget.retire(2);
    expect([budget.owed, budget.leavesInMs]).toEqual([2, expect.closeTo(85.001, 4)]);
    await clock.advance(86);
    expect(budget.leavesInMs).toBeCloseTo(498.101, 4);
    expect(budget.leased).toBe(1);
  });

  test("is not told of one that came back early and stays", async () => {
    const opened = open(1);
    const { clock, budget } = opened;
    await learn(opened, 100);
    const by = someone();
    budget.take(1, by);
    budget.settle(1, by, 100);
    await clock.advance(917);
    expect([budget.idle, budget.leavesInMs]).toEqual([1, undefined]);
  });

  test("is at once when it has been back for long", async () => {
    const opened = open(1);
    const { clock, budget } = opened;
    await learn(opened, 100);
    await clock.advance(5_000);
    budget.retire(1);
    expect([budget.leavesInMs, budget.owed, budget.leased]).toEqual([undefined, 0, 0]);
  });
});

test("what is granted covers first what is called back, and only the rest is new", () => {
  const { budget, changes } = open(4);
  const by = someone();
  budget.take(3, by);
  budget.settle(3, by, 0);
  budget.retire(3);
  expect([budget.leased, budget.idle, budget.owed]).toEqual([3, 0, 2]);
  budget.grant(3);
  expect([budget.leased, budget.idle, budget.owed, changes()]).toEqual([4, 1, 0, 1]);
});
