import { describe, expect, test } from "vitest";
import type { SharedBudget } from "../../../src/options/shared-limits.ts";
import { Budget } from "../../../src/rate-limit/budget.ts";
import { DailyLimit } from "../../../src/rate-limit/permits.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { sharedBudget } from "../../support/shared-budget.ts";

/** A request, by its identity. */
const someone = (): object => ({});

const [interactive, background] = [{ priority: "interactive" }, { priority: "background" }] as const;
const take = (budget: Budget, weight: number, by: object): void => budget.take(weight, by, interactive);
const settle = (budget: Budget, weight: number, by: object, roundTripMs: number | undefined): void =>
  budget.end(weight, by, interactive, { roundTripMs, wasSent: true });
const refund = (budget: Budget, weight: number, by: object): void =>
  budget.end(weight, by, interactive, { roundTripMs: undefined, wasSent: false });
const has = (budget: Budget, amount: number): boolean => budget.readyAt(amount) === undefined;
/** Whether a request may go now; otherwise the budget wakes it in time. */
const want = (budget: Budget, amount: number, kept = 0): boolean => {
  const at = budget.readyAt(amount, kept);
  if (at !== undefined) budget.wakeAt(at);
  return at === undefined;
};

const open = (max = 10, shared?: SharedBudget) => {
  const clock = new FakeClock();
  let changes = 0;
  const onChange = (): void => {
    changes += 1;
  };
  const day = new DailyLimit("eventsPerDay", 1e9, clock);
  const budget = new Budget("events", { max, windowMs: 1_000 }, { clock, day, onChange, shared });
  return { clock, budget, changes: () => changes };
};

test("a permit comes back a window and its margin after the answer", async () => {
  const { clock, budget } = open(1);
  const by = someone();
  take(budget, 1, by);
  await clock.advance(300);
  settle(budget, 1, by, 300);
  await clock.advance(1_001);
  expect(has(budget, 1)).toBe(false);
  await clock.advance(0.1);
  expect(has(budget, 1)).toBe(true);
});

test("a new budget has no wait", () => {
  const { budget } = open();
  expect([budget.waiting, has(budget, 1)]).toEqual([{ interactive: 0, background: 0 }, true]);
});

test("a waiting request is woken, however much time passes while the budget is asked", async () => {
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
    const budget = new Budget(
      "events",
      { max: 1, windowMs: 1_000 },
      { clock: ticking, onChange: () => {}, day: new DailyLimit("x", 1e9, clock) },
    );
    const by = someone();
    take(budget, 1, by);
    settle(budget, 1, by, 0);
    await clock.advance(1_001.1 - beforeMs);
    stepMs = 0.3;
    // Told at once, or woken by a timer.
    expect([beforeMs, want(budget, 1) || clock.pending === 1]).toEqual([beforeMs, true]);
  }
});

test("a request that never left gives its permit back at once", () => {
  const { budget } = open(1);
  const by = someone();
  take(budget, 1, by);
  refund(budget, 1, by);
  expect(has(budget, 1)).toBe(true);
});

test("a permit of a request without an answer comes back a third of a window later", async () => {
  const { clock, budget } = open(1);
  const by = someone();
  take(budget, 1, by);
  settle(budget, 1, by, undefined);
  await clock.advance(1_334.4);
  expect(has(budget, 1)).toBe(false);
  await clock.advance(0.1);
  expect(has(budget, 1)).toBe(true);
});

test("a batch larger than the limit takes all of it, for as many windows as it fills", async () => {
  const { clock, budget } = open(10);
  const by = someone();
  expect(has(budget, 10)).toBe(true);
  take(budget, 25, by);
  settle(budget, 25, by, 0);
  await clock.advance(2_501);
  expect(has(budget, 1)).toBe(false);
  await clock.advance(1);
  expect(has(budget, 10)).toBe(true);
});

/** One use at a time, each answered after `ms`, until the latency is known. */
const learn = async ({ clock, budget }: ReturnType<typeof open>, ms: number): Promise<void> => {
  for (let at = 0; at < 21; at += 1) {
    const by = someone();
    take(budget, 1, by);
    await clock.advance(ms);
    settle(budget, 1, by, ms);
    await clock.advance(1_002);
    expect(has(budget, 1)).toBe(true);
  }
};

test("constant latency costs next to nothing once it is known", async () => {
  const opened = open(1);
  const { clock, budget } = opened;
  await learn(opened, 50);
  const by = someone();
  take(budget, 1, by);
  await clock.advance(50);
  settle(budget, 1, by, 50);
  await clock.advance(966);
  expect(has(budget, 1)).toBe(false);
  await clock.advance(1);
  expect(has(budget, 1)).toBe(true);
});

test("a request without an answer is given no such allowance", async () => {
  const opened = open(2);
  const { clock, budget } = opened;
  await learn(opened, 200);
  take(budget, 2, someone());
  settle(budget, 2, someone(), undefined);
  await clock.advance(1_001);
  expect(has(budget, 1)).toBe(false);
});

describe("after a pause", () => {
  test("nothing goes before its time, then one, and the rest when that one is through", async () => {
    const { clock, budget } = open();
    budget.pause(2_000);
    await clock.advance(1_999);
    expect(has(budget, 1)).toBe(false);
    await clock.advance(1);
    expect(has(budget, 1)).toBe(true);
    const probe = someone();
    take(budget, 1, probe);
    expect(has(budget, 1)).toBe(false);
    settle(budget, 1, probe, 10);
    expect(has(budget, 1)).toBe(true);
  });

  test("the late answer to an older request does not end the probe", async () => {
    const { clock, budget } = open();
    const older = someone();
    take(budget, 1, older);
    budget.pause(100);
    await clock.advance(100);
    const probe = someone();
    take(budget, 1, probe);
    settle(budget, 1, older, 10);
    expect(has(budget, 1)).toBe(false);
  });

  test("a probe that is told to wait pauses again and another probe follows", async () => {
    const { clock, budget } = open();
    budget.pause(100);
    await clock.advance(100);
    const probe = someone();
    take(budget, 1, probe);
    budget.pause(500);
    settle(budget, 1, probe, 10);
    await clock.advance(499);
    expect(has(budget, 1)).toBe(false);
    await clock.advance(1);
    take(budget, 1, someone());
    expect(has(budget, 1)).toBe(false);
  });

  test("a probe that never left leaves its turn to the next", async () => {
    const { clock, budget } = open();
    budget.pause(100);
    await clock.advance(100);
    const probe = someone();
    take(budget, 1, probe);
    refund(budget, 1, probe);
    expect(has(budget, 1)).toBe(true);
    take(budget, 1, someone());
    expect(has(budget, 1)).toBe(false);
  });
});

test("the wait behind a probe is unknown", async () => {
  const { clock, budget } = open(2);
  const by = someone();
  take(budget, 1, by);
  settle(budget, 1, by, 0);
  budget.pause(100);
  await clock.advance(100);
  expect(budget.readyAt(1)).toBe(undefined);
  take(budget, 1, someone());
  expect(budget.readyAt(1)).toBe(Number.POSITIVE_INFINITY);
});

test("during a probe, no request is woken", async () => {
  const { clock, budget } = open(2);
  const by = someone();
  take(budget, 1, by);
  settle(budget, 1, by, 0);
  budget.pause(100);
  await clock.advance(100);
  take(budget, 1, someone());
  want(budget, 1);
  expect(clock.pending).toBe(0);
});

test("those who wait are looked at when the service asks to wait: for some that is too long", () => {
  const { budget, changes } = open();
  budget.applyPause(60_000, "429 on events.record");
  expect(changes()).toBe(1);
});

test("a shorter pause never cuts a longer one", async () => {
  const { clock, budget } = open();
  budget.pause(1_000);
  budget.pause(10);
  await clock.advance(999);
  expect([has(budget, 1), budget.pausedForMs]).toEqual([false, 1]);
});

test("those who wait are looked at when the next permit is back, and no timer outlives them", async () => {
  const { clock, budget, changes } = open(1);
  const by = someone();
  take(budget, 1, by);
  settle(budget, 1, by, 0);
  want(budget, 1);
  expect(clock.nextInMs).toBeCloseTo(1_001.1);
  await clock.advance(1_002);
  expect(changes()).toBe(1);
  take(budget, 1, by);
  settle(budget, 1, by, 0);
  want(budget, 1);
  budget.removeQueue({
    kind: { ...interactive, narrowest: budget },
    slots: {},
    length: 0,
    amount: 0,
    block: () => undefined,
  });
  expect(clock.pending).toBe(0);
});

test("once the latency is known, those who wait are looked at as much earlier", async () => {
  const opened = open(1);
  const { clock, budget } = opened;
  await learn(opened, 50);
  const by = someone();
  take(budget, 1, by);
  settle(budget, 1, by, 50);
  want(budget, 1);
  expect([budget.state.resetsInMs, clock.nextInMs]).toEqual([967, expect.closeTo(966.1)]);
});

test("a permit that returns before the expected ones wakes the request that waits then", async () => {
  const { clock, budget, changes } = open(2);
  const [unanswered, answered] = [someone(), someone()];
  take(budget, 1, unanswered);
  take(budget, 1, answered);
  settle(budget, 1, unanswered, undefined);
  want(budget, 1);
  await clock.advance(100);
  settle(budget, 1, answered, 100);
  want(budget, 1);
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
  const day = new DailyLimit("eventsPerDay", 1e9, clock);
  const onChange = (): void => void want(budget, 1);
  const context = { clock, day, onChange };
  const budget: Budget = new Budget("events", { max: 1, windowMs: 1_000 }, context);
  const by = someone();
  take(budget, 1, by);
  settle(budget, 1, by, 0);
  want(budget, 1);
  await clock.advance(1_000.6);
  expect([clock.pending, clock.nextInMs]).toEqual([1, expect.closeTo(0.5)]);
});

test("a request that would wait for permits that have just come free may go", async () => {
  const { clock, budget } = open(1);
  budget.pause(100);
  expect(has(budget, 1)).toBe(false);
  // The pause ends between the two questions, and no timer is left to tell of it.
  await clock.advance(100);
  expect([want(budget, 1), clock.pending]).toEqual([true, 0]);
});

test("it tells what is used, what is left, and when more frees", async () => {
  const { clock, budget } = open(2);
  const by = someone();
  take(budget, 2, by);
  await clock.advance(100);
  // A window after the response at least, which may come at any moment.
  expect(budget.state).toMatchObject({ remaining: 0, resetsInMs: 1_000 });
  settle(budget, 2, by, 100);
  await clock.advance(1);
  expect(budget.state).toEqual({
    used: 2,
    remaining: 0,
    resetsInMs: 1_001,
    pausedUntil: undefined,
    pausedBy: undefined,
    lost: undefined,
    waiting: { interactive: 0, background: 0 },
  });
  budget.applyPause(5_000, "429 on events.record");
  expect(budget.state).toEqual({
    used: 2,
    remaining: 0,
    resetsInMs: 5_000,
    pausedUntil: clock.wallTime() + 5_000,
    pausedBy: "429 on events.record",
    lost: undefined,
    waiting: { interactive: 0, background: 0 },
  });
});

test("it tells of a pause to its last millisecond, and of none that is over", async () => {
  const { clock, budget } = open(2);
  budget.applyPause(1_000, "429 on events.record");
  await clock.advance(999);
  const until = clock.wallTime() + 1;
  expect(budget.state).toMatchObject({ pausedUntil: until, pausedBy: "429 on events.record" });
  await clock.advance(1);
  expect(budget.state).toMatchObject({ pausedUntil: undefined, pausedBy: undefined });
});

test("as long as one is left, the next use is possible at once", () => {
  const { budget } = open(2);
  const by = someone();
  take(budget, 1, by);
  settle(budget, 1, by, 0);
  expect(budget.state).toMatchObject({ used: 1, remaining: 1, resetsInMs: 0 });
});

test("without a limit it tells that nothing is used", () => {
  expect(open(Number.POSITIVE_INFINITY).budget.state).toEqual({
    used: 0,
    remaining: Number.POSITIVE_INFINITY,
    resetsInMs: 0,
    pausedUntil: undefined,
    pausedBy: undefined,
    lost: undefined,
    waiting: { interactive: 0, background: 0 },
  });
});

test("knownWaitMs is the time until permits have cooled, plus a window for each further round", async () => {
  const { clock, budget } = open(10);
  take(budget, 4, someone());
  settle(budget, 4, someone(), 0);
  await clock.advance(500);
  take(budget, 2, someone());
  const waits = [1, 5, 6, 9, 10, 15].map((amount) => budget.knownWaitMs(amount));
  expect(waits).toEqual([0, 502, 502, 1_000, 1_000, 1_502]);
  budget.pause(700);
  expect(budget.knownWaitMs(1)).toBe(700);
});

describe("the reserve for interactive calls", () => {
  const held = (interactive: number) => {
    const opened = open(100);
    opened.budget.sawInteractive();
    if (interactive > 0) take(opened.budget, interactive, someone());
    return opened;
  };

  test.each([
    [0, 10],
    [6, 10],
    [20, 30],
    [40, 60],
    [57, 86],
    [60, 90],
    [85, 90],
  ])("with %i permits used in the last window is %i", (used, reserve) => {
    expect(held(used).budget.reserve(0.1)).toBe(reserve);
  });

  test("is at least what the client says", () => {
    expect(held(0).budget.reserve(0.25)).toBe(25);
  });

  test("lasts for three windows after the last interactive call, and before the first there is none", async () => {
    expect(open(100).budget.reserve(0.1)).toBe(0);
    const { clock, budget } = held(0);
    await clock.advance(2_999);
    expect(budget.reserve(0.1)).toBe(10);
    await clock.advance(1);
    expect(budget.reserve(0.1)).toBe(0);
  });

  test("wakes background work that it holds up when it ends", () => {
    const { clock, budget } = held(0);
    budget.take(5, someone(), background);
    expect([want(budget, 90, budget.keptFromBackground(90, 0.1)), clock.nextInMs]).toEqual([false, 3_000]);
  });

  test("shrinks by what interactive calls hold, and leaves room for a batch of most of the budget", () => {
    const { budget } = held(4);
    expect([budget.keptFromBackground(1, 0.1), budget.keptFromBackground(95, 0.1)]).toEqual([6, 1]);
  });
});

describe("background work is due", () => {
  test("until it holds a tenth", () => {
    const { budget } = open(100);
    budget.take(10, someone(), background);
    expect(budget.isBackgroundDue(1)).toBe(false);
  });

  test("with a larger batch once a tenth of the budget would have let it through", async () => {
    const { clock, budget } = open(100);
    budget.take(25, someone(), background);
    budget.end(25, someone(), background, { roundTripMs: 0, wasSent: true });
    await clock.advance(2_499);
    expect(budget.isBackgroundDue(25)).toBe(false);
    await clock.advance(1);
    expect(budget.isBackgroundDue(25)).toBe(true);
  });
});

test("a shared limit learns which budget it is for, and of a pause, and tells what all use of it", () => {
  const { shared, log } = sharedBudget({ inUse: 3 });
  const { budget, changes } = open(10, shared);
  budget.applyPause(500, "429 on events.record");
  budget.changed();
  expect([log, changes()]).toEqual([["attached events", "paused for 500 by 429 on events.record"], 2]);
  expect(budget.state).toMatchObject({ used: 3, remaining: 7 });
});
