import { expect, test } from "vitest";
import { ConfigurationError } from "../../../src/errors.ts";
import { createSandboxClock } from "../../../src/sandbox/sandbox-clock.ts";
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

test("an advance backwards is refused", () => {
  expect(() => createSandboxClock(stillClock).advance(-1)).toThrow(ConfigurationError);
});

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
