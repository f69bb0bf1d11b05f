import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { iterateUntilAborted, untilAborted } from "../../../src/runtime/cancellation.ts";
import { turn } from "../../support/fake-clock.ts";

const never = new Promise<never>(() => undefined);
const aborted = AbortSignal.abort("enough");

/** The end of a promise that has to come without any wait. */
const endOf = async (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([promise.catch((reason: unknown) => ({ reason })), turn().then(() => "waits")]);

describe("a promise that knows no signal", () => {
  test("is not waited for once the signal has aborted, before or meanwhile", async () => {
    expect(await endOf(untilAborted(never, aborted))).toEqual({ reason: "enough" });
    const abort = new AbortController();
    const waiting = untilAborted(never, abort.signal);
    abort.abort("now");
    expect(await endOf(waiting)).toEqual({ reason: "now" });
  });

  test.each([
    ["fulfilled", async () => 1, 1],
    ["rejected", async () => Promise.reject("no"), { reason: "no" }],
  ])("tells what it comes to, and leaves nothing at the signal: %s", async (_name, work, end) => {
    const { signal } = new AbortController();
    expect(await endOf(untilAborted<unknown>(work(), signal))).toEqual(end);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

/** A source of 1, 2, 3, … that goes on as told, and notes what it is asked for. */
const source = (goesOn: (item: number) => Promise<boolean>) => {
  const asked: string[] = [];
  let item = 0;
  const items: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        asked.push("next");
        item += 1;
        return (await goesOn(item)) ? { value: item } : { done: true, value: undefined };
      },
      return: async () => {
        asked.push("return");
        return { done: true, value: undefined };
      },
    }),
  };
  return { items, asked };
};

const readAll = async (
  items: Iterable<number> | AsyncIterable<number>,
  signal: AbortSignal,
  look: (item: number) => boolean | undefined = () => true,
): Promise<number[]> => {
  const read: number[] = [];
  for await (const item of iterateUntilAborted(items, signal)) {
    read.push(item);
    if (look(item) === false) break;
  }
  return read;
};

describe("a source", () => {
  const two = async (item: number) => item <= 2;
  const open = new AbortController().signal;

  test("that has ended gets no more calls", async () => {
    const { items, asked } = source(two);
    expect(await readAll(items, open)).toEqual([1, 2]);
    expect(asked).toEqual(["next", "next", "next"]);
  });

  test("that fails has ended by itself", async () => {
    const { items, asked } = source(async () => Promise.reject(new Error("file gone")));
    await expect(readAll(items, open)).rejects.toThrow("file gone");
    expect(asked).toEqual(["next"]);
  });

  test("that is left early gets a return()", async () => {
    const { items, asked } = source(two);
    expect(await readAll(items, open, () => false)).toEqual([1]);
    expect(asked).toEqual(["next", "return"]);
  });

  test("that has gone quiet when the signal aborts gets a return(), and is not awaited", async () => {
    const abort = new AbortController();
    const { items, asked } = source(() => never);
    const reading = readAll(items, abort.signal);
    await turn();
    abort.abort("now");
    expect(await endOf(reading)).toEqual({ reason: "now" });
    expect(asked).toEqual(["next", "return"]);
  });

  test("is not begun after the abort, and an array ends with the item at which it came", async () => {
    const seen: number[] = [];
    const abort = new AbortController();
    const look = (item: number): boolean => {
      seen.push(item);
      if (item === 2) abort.abort("now");
      return true;
    };
    expect(await endOf(readAll([1, 2, 3], aborted, look))).toEqual({ reason: "enough" });
    expect(await endOf(readAll([1, 2, 3], abort.signal, look))).toEqual({ reason: "now" });
    expect(seen).toEqual([1, 2]);
    const { items, asked } = source(two);
    expect(await endOf(readAll(items, aborted))).toEqual({ reason: "enough" });
    expect(asked).toEqual([]);
  });
});
