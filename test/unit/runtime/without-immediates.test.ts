import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** The clock as it loads under jsdom in Jest: no immediates, and timers that are numbers. */
const clockOfJsdom = async () => {
  const timers = new Map<number, NodeJS.Timeout>();
  const { setTimeout, clearTimeout } = globalThis;
  vi.stubGlobal("setImmediate", undefined);
  vi.stubGlobal("clearImmediate", undefined);
  vi.stubGlobal("setTimeout", (callback: () => void, ms: number): number => {
    timers.set(timers.size, setTimeout(callback, ms));
    return timers.size - 1;
  });
  vi.stubGlobal("clearTimeout", (timer: number) => clearTimeout(timers.get(timer)));
  vi.resetModules();
  return import("../../../src/runtime/clock.ts");
};

test("timers fire, and can be cleared, where there are no immediates", async () => {
  const { systemClock, afterReading } = await clockOfJsdom();
  const fired: string[] = [];
  systemClock.after(0, () => fired.push("cleared"))();
  await new Promise<void>((resolve) => systemClock.after(0, resolve, { idle: true }));
  await new Promise<void>((resolve) => afterReading(resolve));
  expect(fired).toEqual([]);
});
