import { expect, test } from "vitest";
import { SharedTimers } from "../../../src/runtime/clock.ts";
import { FakeClock } from "../../support/fake-clock.ts";

test("attempts of one length share a timer, and each ends at its own time", async () => {
  const clock = new FakeClock();
  const timers = new SharedTimers(clock);
  const ended: [string, number][] = [];
  timers.after(1_000, () => ended.push(["a", clock.now()]));
  await clock.advance(300);
  const cancel = timers.after(1_000, () => ended.push(["b", clock.now()]));
  await clock.advance(300);
  timers.after(1_000, () => ended.push(["c", clock.now()]));
  expect(clock.pending).toBe(1);
  cancel();
  cancel();
  await clock.advance(2_000);
  expect(ended).toEqual([
    ["a", 1_000],
    ["c", 1_600],
  ]);
  expect(clock.pending).toBe(0);
});

test("attempts of different lengths do not wait for each other", async () => {
  const clock = new FakeClock();
  const timers = new SharedTimers(clock);
  const ended: number[] = [];
  timers.after(5_000, () => ended.push(clock.now()));
  timers.after(50, () => ended.push(clock.now()));
  await clock.advance(5_000);
  expect(ended).toEqual([50, 5_000]);
});

test("an attempt that begins while another times out gets its full time", async () => {
  const clock = new FakeClock();
  const timers = new SharedTimers(clock);
  const ended: number[] = [];
  timers.after(100, () => timers.after(100, () => ended.push(clock.now())));
  await clock.advance(250);
  expect(ended).toEqual([200]);
});

test("close clears every timer", () => {
  const clock = new FakeClock();
  const timers = new SharedTimers(clock);
  timers.after(100, () => undefined);
  timers.after(200, () => undefined);
  timers.close();
  expect(clock.pending).toBe(0);
});

test("an attempt that comes due while the loop stands still gets its own look at the sockets", async () => {
  const clock = new FakeClock();
  const looks: (() => void)[] = [];
  const standing = {
    now: () => clock.now(),
    wallTime: () => clock.wallTime(),
    after: (ms: number, callback: () => void) => clock.after(ms, () => looks.push(callback)),
  };
  const timers = new SharedTimers(standing);
  const ended: string[] = [];
  timers.after(100, () => ended.push("a"));
  await clock.advance(50);
  timers.after(100, () => ended.push("b"));
  // The first timer has fired, and before its look at the sockets is over the second attempt is late too.
  await clock.advance(200);
  looks.shift()?.();
  expect([ended, looks]).toEqual([["a"], []]);
  await clock.advance(0);
  looks.shift()?.();
  expect(ended).toEqual(["a", "b"]);
});
