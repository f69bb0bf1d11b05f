import { describe, expect, test } from "vitest";
import { ConfigurationError } from "../../../src/errors.ts";
import { createSandboxClock } from "../../../src/sandbox/sandbox-clock.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { stillClock } from "./client.ts";

test("timers fire in their order, each at its own time, also those set on the way", () => {
  const clock = createSandboxClock(stillClock);
  const log: [string, number][] = [];
  clock.after(300, () => log.push(["c", clock.now()]));
  clock.after(250, () => log.push(["late", clock.now()]));
  clock.after(100, () => {
    log.push(["a", clock.now()]);
    clock.after(100, () => log.push(["b", clock.now()]));
  });
  const cancel = clock.after(150, () => log.push(["never", clock.now()]));
  cancel();
  clock.advance(250);
  expect(log).toEqual([
    ["a", 100],
    ["b", 200],
    ["late", 250],
  ]);
  clock.advance(50);
  expect(log.at(-1)).toEqual(["c", 300]);
  expect([clock.now(), clock.wallTime() - stillClock.wallTime()]).toEqual([300, 300]);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 8.64e15, "5", undefined])(
  "an advance of %j is refused, and the clock stays",
  (ms) => {
    const clock = createSandboxClock(stillClock);
    expect(() => clock.advance(ms)).toThrow(ConfigurationError);
    expect([clock.now(), clock.aheadMs]).toEqual([0, 0]);
  },
);

test("the clock below moves it too, and timers wait for what is left", () => {
  const waits: number[] = [];
  let base = 0;
  const clock = createSandboxClock({
    ...stillClock,
    now: () => base,
    after: (ms) => {
      waits.push(ms);
      return () => {};
    },
  });
  clock.after(1_000, () => {});
  base = 200;
  clock.advance(300);
  expect([clock.now(), waits]).toEqual([500, [1_000, 500]]);
});

describe("a stopped clock", () => {
  test("stands still, but for advance, and goes on from where it stopped", async () => {
    const base = new FakeClock();
    const clock = createSandboxClock(base);
    const log: number[] = [];
    clock.after(1_000, () => log.push(clock.now()));
    await base.advance(200);
    clock.freeze(true);
    await base.advance(5_000);
    expect([clock.now(), clock.wallTime() - base.wallTime(), clock.isFrozen, log]).toEqual([
      200,
      -5_000,
      true,
      [],
    ]);
    clock.advance(300);
    expect([clock.now(), log]).toEqual([500, []]);
    clock.freeze(false);
    expect([clock.now(), clock.aheadMs]).toEqual([500, -4_700]);
    await base.advance(500);
    expect(log).toEqual([1_000]);
  });

  test("what is due in the time it is moved by fires", () => {
    const clock = createSandboxClock(new FakeClock());
    const log: number[] = [];
    clock.freeze(true);
    clock.after(100, () => log.push(clock.now()));
    clock.advance(100);
    expect(log).toEqual([100]);
  });

  test("stopping it twice is stopping it once", async () => {
    const base = new FakeClock();
    const clock = createSandboxClock(base);
    clock.freeze(true);
    await base.advance(100);
    clock.freeze(true);
    clock.freeze(false);
    expect(clock.now()).toBe(0);
  });
});
