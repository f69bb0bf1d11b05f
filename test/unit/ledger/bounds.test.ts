import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { Bounds } from "../../../src/ledger/bounds.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const never = new Promise<never>(() => undefined);
const late = (): Error => new Error("late");

/** A clock that has run for a while. */
const aClock = async (): Promise<FakeClock> => {
  const clock = new FakeClock();
  await clock.advance(50);
  return clock;
};

test("what is left of the total time is whole milliseconds, and at least one", async () => {
  const clock = await aClock();
  const bounds = new Bounds({ totalTimeoutMs: 250.5 }, clock);
  expect(bounds.leftMs).toBe(251);
  await clock.advance(100);
  expect(bounds.leftMs).toBe(151);
  await clock.advance(200);
  expect(bounds.leftMs).toBe(1);
  expect(new Bounds({}, clock).leftMs).toBeUndefined();
});

test("a wait ends with what is left of the total time", async () => {
  const clock = await aClock();
  const bounds = new Bounds({ totalTimeoutMs: 250 }, clock);
  await clock.advance(100);
  await expect(clock.until(bounds.within(never, late))).rejects.toThrow("late");
  expect(clock.now()).toBe(300);
});

test("a wait that ends by itself leaves neither a timer nor a listener", async () => {
  const clock = await aClock();
  const { signal } = new AbortController();
  const bounds = new Bounds({ totalTimeoutMs: 250, signal }, clock);
  expect(await bounds.within(Promise.resolve("done"), late)).toBe("done");
  await expect(bounds.within(Promise.reject(new Error("no")), late)).rejects.toThrow("no");
  expect([clock.pending, getEventListeners(signal, "abort").length]).toEqual([0, 0]);
});

test("a wait under a signal that has aborted ends at once, and one under a signal that aborts ends then", async () => {
  const clock = await aClock();
  const reason = new Error("enough");
  const aborted = new Bounds({ signal: AbortSignal.abort(reason) }, clock);
  await expect(aborted.within(never, late)).rejects.toBe(reason);
  const controller = new AbortController();
  const waiting = new Bounds({ signal: controller.signal, totalTimeoutMs: 250 }, clock).within(never, late);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(clock.pending).toBe(0);
});
