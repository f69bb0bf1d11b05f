import { expect, test } from "vitest";
import { type Progress, ProgressReporter } from "../../../src/bulk/progress.ts";
import { type Clock, sleepOn } from "../../../src/runtime/clock.ts";

const handClock = () => {
  let time = 0;
  const after = (): never => {
    throw new Error("no timer is needed here");
  };
  const clock: Clock = {
    now: () => time,
    wallTime: () => time,
    after,
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
  };
  return { clock, advance: (ms: number) => (time += ms) };
};

const reporting = (total?: number) => {
  const { clock, advance } = handClock();
  const log: Progress[] = [];
  return { log, advance, reporter: new ProgressReporter((progress) => log.push(progress), total, clock) };
};

test("the rate counts the first batch", () => {
  const { log, advance, reporter } = reporting(300);
  advance(1_000);
  reporter.update(100);
  expect(log).toEqual([{ done: 100, total: 300, perSecond: 100, etaMs: 2_000, waitingFor: undefined }]);
});

test("what an earlier run settled is done, and not in the rate, nor is the time to skip it", () => {
  const { log, advance, reporter } = reporting(2_000);
  for (const done of [1, 500, 1_000]) {
    advance(500);
    reporter.skip(done);
  }
  advance(1_000);
  reporter.update(1_100);
  expect(log.at(-1)).toMatchObject({ done: 1_100, perSecond: 100, etaMs: 9_000 });
});

test("reports at most ten times a second, and at the end", () => {
  const { log, advance, reporter } = reporting();
  for (let done = 1; done <= 30; done += 1) {
    reporter.update(done);
    advance(10);
  }
  reporter.update(31, true);
  expect(log.map(({ done }) => done)).toEqual([1, 11, 21, 31]);
});
