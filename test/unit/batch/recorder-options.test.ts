import { expect, test } from "vitest";
import { type RecorderOptions, recorderSettings } from "../../../src/batch/recorder-options.ts";

test("what is left out has a default, and a batch is no larger than the events limit at once", () => {
  const defaults = { maxBatch: 100, maxDelayMs: 50, onDrop: undefined };
  expect(recorderSettings(null)).toEqual(defaults);
  expect(recorderSettings({}, 500)).toEqual(defaults);
  expect(recorderSettings({}, 30)).toEqual({ ...defaults, maxBatch: 30 });
});

test.each([{ maxBatch: 1 }, { maxBatch: 100 }, { maxDelayMs: 0 }])("%j is accepted", (options) => {
  expect(recorderSettings(options)).toMatchObject(options);
});

test.each([
  [{ maxBatch: 0 }, "maxBatch must be a whole number from 1 to 100, got 0"],
  [{ maxBatch: 1.5 }, "maxBatch must be a whole number from 1 to 100, got 1.5"],
  [{ maxBatch: 101 }, "maxBatch must be a whole number from 1 to 100, got 101"],
  [{ maxDelayMs: Number.NaN }, "maxDelayMs must be a number of at least 0, got NaN"],
  [{ onDrop: "log" as unknown as () => void }, "onDrop must be a function"],
  [{ maxWait: 5 } as RecorderOptions, "maxWait"],
])("%j alone is refused", (options, fault) => {
  expect(() => recorderSettings(options)).toThrow(fault);
});
