import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { EffectTracker, withDeadline } from "../../../src/batch/with-deadline.ts";
import { ConnectionError, type Outcome, TimeoutError } from "../../../src/errors.ts";
import { DeadlineExceeded } from "../../../src/runtime/cancellation.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const failed = (outcome: Outcome) => new ConnectionError("no service", { outcome });
const never = new Promise<never>(() => undefined);

describe("work of several requests", () => {
  test.each<readonly [outcome: Outcome, name: string, ends: readonly (Error | "answered")[]]>([
    ["not-applied", "none of them was made", []],
    ["not-applied", "each certainly did nothing", [failed("not-applied"), failed("not-applied")]],
    ["unknown", "one was answered", ["answered", failed("not-applied")]],
    ["unknown", "of one nobody knows", [failed("unknown"), failed("not-applied")]],
    ["unknown", "one was aborted", [new Error("enough"), failed("not-applied")]],
  ])("has an effect that is %s when %s", async (outcome, _name, ends) => {
    const effect = new EffectTracker();
    const told = await Promise.allSettled(
      ends.map((end) => effect.of(end === "answered" ? Promise.resolve(end) : Promise.reject(end))),
    );
    expect(told.map((each) => (each.status === "fulfilled" ? each.value : each.reason))).toEqual(ends);
    expect(effect.outcome).toBe(outcome);
  });
});

/** Runs work whose signal aborts after 200 ms. */
const scene = async (reason: unknown, work: (signal: AbortSignal, clock: FakeClock) => Promise<unknown>) => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const { signal } = abort;
  clock.after(200, () => abort.abort(reason));
  const bounded = { operation: "events.ingest", signal, effect: new EffectTracker(), clock };
  const end = withDeadline(bounded, () => work(signal, clock)).catch((error: unknown) => error);
  return {
    end: await clock.until(end),
    atMs: clock.now(),
    left: clock.pending + getEventListeners(signal, "abort").length,
  };
};

const whenAborts = (signal: AbortSignal, errorOf: () => unknown) =>
  new Promise((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(errorOf()), { once: true }),
  );

describe("at its deadline", () => {
  const late = new DeadlineExceeded(200);
  const message = "events.ingest: the call took longer than totalTimeoutMs (200 ms), outcome not-applied.";
  const timeout = (attempts: number) => ({ code: "timeout", operation: "events.ingest", message, attempts });

  test("work that ends with the signal's reason ends with a TimeoutError", async () => {
    const ended = await scene(late, (signal) => whenAborts(signal, () => signal.reason));
    expect(ended).toMatchObject({ end: timeout(0), atMs: 200, left: 0 });
  });

  test("the attempts of the request that was under way are reported", async () => {
    const ended = await scene(late, (signal) =>
      whenAborts(signal, () => new TimeoutError("contacts.get: late", { attempts: 3 })),
    );
    expect(ended).toMatchObject({ end: timeout(3), atMs: 200, left: 0 });
  });

  test("any other error of the work stays what it is", async () => {
    const fault = new Error("file gone");
    const ended = await scene(late, (signal) => whenAborts(signal, () => fault));
    expect(ended).toEqual({ end: fault, atMs: 200, left: 0 });
  });

  test("work that hangs has a second to end", async () => {
    expect(await scene(late, () => never)).toMatchObject({ end: timeout(0), atMs: 1_200 });
  });
});

test("after an abort by its caller the work takes its time, and ends with the caller's reason", async () => {
  const ended = await scene("enough", async (signal, clock) => {
    await clock.sleep(5_000);
    throw signal.reason;
  });
  expect(ended).toEqual({ end: "enough", atMs: 5_000, left: 0 });
});

test("work that ends in time leaves nothing at its signal", async () => {
  const { signal } = new AbortController();
  const bounded = { operation: "events.ingest", signal, effect: new EffectTracker(), clock: new FakeClock() };
  expect(await withDeadline(bounded, async () => "done")).toBe("done");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
