import { expect, test } from "vitest";
import { type Progress, ProgressReporter } from "../../../src/bulk/progress.ts";
import {
  type Entry,
  type InputSource,
  type Reading,
  runSource,
  type SourceWork,
} from "../../../src/bulk/source-run.ts";
import type { Checkpoint } from "../../../src/runtime/checkpoint.ts";
import { contentHash } from "../../../src/runtime/content-hash.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

const never = new Promise<never>(() => undefined);

const items = (count: number): string[] => Array.from({ length: count }, (_, index) => `item ${index}`);

/** A checkpoint behind so many of `items`. */
const behind = (done: number): Checkpoint => ({
  version: 1,
  done,
  last: contentHash(`item ${done - 1}`),
});

type Given = Partial<Pick<SourceWork<string>, "batchSize" | "concurrency" | "work">> & {
  readonly totalTimeoutMs?: number;
  readonly save?: (state: Checkpoint) => Promise<void>;
};

/** A run over the source, one item and one batch at a time unless told otherwise, and all that it says and does. */
const scene = (source: (clock: FakeClock) => InputSource<string>, given: Given = {}, before?: Checkpoint) => {
  const clock = new FakeClock();
  const saved: Checkpoint[] = [];
  const batches: (readonly number[])[] = [];
  const log: (Pick<Progress, "done" | "perSecond" | "waitingFor"> & { readonly atMs: number })[] = [];
  const { work = async () => undefined, save = async () => undefined, totalTimeoutMs, ...others } = given;
  const call = scriptedCall(clock, async () => undefined).long("items.do", { totalTimeoutMs });
  const progress = new ProgressReporter(
    ({ done, perSecond, waitingFor }) => log.push({ atMs: clock.now(), done, perSecond, waitingFor }),
    undefined,
    clock,
  );
  const start = () =>
    runSource({
      report: (reading: Reading) => ({ ...reading, rejected: 0 }),
      readItem: (item) => item,
      ...{ call, progress, source: source(clock) },
      ...{ batchSize: () => 1, concurrency: 1, ...others },
      checkpoint: {
        load: async () => before,
        save: (state) => {
          saved.push(state);
          return save(state);
        },
      },
      work: (entries: readonly Entry<string>[]) => {
        batches.push(entries.map(({ index }) => index));
        return work(entries);
      },
    });
  return { clock, saved, batches, log, progress, start };
};

const array = (count: number) => (): InputSource<string> => items(count);

/** Yields an item every 200 ms, and ends 200 ms after the last. */
const slowly = (count: number) => (clock: FakeClock) =>
  (async function* () {
    for (const item of items(count)) {
      await clock.sleep(200);
      yield item;
    }
    await clock.sleep(200);
  })();

test("each batch that leaves nothing open before it is saved, the first one too", async () => {
  const { clock, saved, start } = scene(array(3));
  await clock.until(start());
  expect(saved).toEqual([behind(1), behind(2), behind(3)]);
});

test("a source without an item is a run of its own", async () => {
  const { clock, batches, saved, start } = scene(array(0));
  const run = start();
  await clock.until(run);
  expect([batches, saved, await run]).toEqual([[], [], { read: 0, skipped: 0, elapsedMs: 0, rejected: 0 }]);
});

test("a source that is shorter than what an earlier run has settled is another one", async () => {
  const { clock, batches, start } = scene(array(2), {}, behind(3));
  await expect(clock.until(start())).rejects.toThrow("it covers 3 items, but this one has 2");
  expect(batches).toEqual([]);
});

test("a source that ends with a full batch has no empty one behind it", async () => {
  const { clock, batches, start } = scene(array(4), { batchSize: () => 2 });
  await clock.until(start());
  expect(batches).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

test.each([1, 2, 4])(
  "with a concurrency of %i, as many batches are processed at once",
  async (concurrency) => {
    const running = [0];
    const { clock, start } = scene(array(20), {
      concurrency,
      work: async () => {
        running.push(Number(running.at(-1)) + 1);
        await clock.sleep(10);
        running.push(Number(running.at(-1)) - 1);
      },
    });
    await clock.until(start());
    expect(Math.max(...running)).toBe(concurrency);
  },
);

test("batches that settle out of order leave a checkpoint that knows its last item", async () => {
  const durations = [20, 30, 10];
  const { clock, saved, start } = scene(array(6), {
    batchSize: () => 2,
    concurrency: 3,
    work: ([first]) => clock.sleep(durations[(first?.index ?? 0) / 2] ?? 0),
  });
  await clock.until(start());
  expect(saved).toEqual([behind(2), behind(6)]);
});

test("one save at a time, and of the states that wait only the newest", async () => {
  const { clock, saved, start } = scene(array(4), { save: () => clock.sleep(100), concurrency: 4 });
  const run = start();
  for (let turns = 100; turns > 0; turns -= 1) await turn();
  expect(saved).toEqual([behind(1)]);
  await clock.until(run);
  expect(saved).toEqual([behind(1), behind(4)]);
});

test("a state that comes just as another is saved is saved before the run ends", async () => {
  for (let ticks = 0; ticks < 10; ticks += 1) {
    const wait = async () => {
      for (let left = ticks; left > 0; left -= 1) await undefined;
    };
    const { clock, saved, start } = scene(array(2), {
      concurrency: 2,
      work: ([first]) => (first?.index === 1 ? wait() : Promise.resolve()),
    });
    await clock.until(start());
    expect(saved.at(-1)).toEqual(behind(2));
  }
});

test("a save that fails ends the run, also if it throws", async () => {
  const full = new Error("disk full");
  const { clock, batches, start } = scene(array(9), {
    save: () => {
      throw full;
    },
  });
  await expect(clock.until(start())).rejects.toBe(full);
  expect(batches.length).toBeLessThan(9);
});

test("while the first batch hangs, eight batches for each of those at once go ahead of it", async () => {
  const { batches, start } = scene(array(1_000), {
    batchSize: () => 2,
    concurrency: 3,
    work: async ([first]) => (first?.index === 0 ? never : undefined),
  });
  void start();
  for (let turns = 100; turns > 0; turns -= 1) await turn();
  expect(batches.map(([first]) => first)).toEqual(Array.from({ length: 25 }, (_, at) => at * 2));
});

test("a first batch that fails, while all others are done and the source waits, ends the run", async () => {
  const mine = new Error("no service");
  const source = (clock: FakeClock) =>
    (async function* () {
      yield* items(25);
      await clock.sleep(1_000);
      yield* items(100);
    })();
  const { clock, start } = scene(source, {
    concurrency: 3,
    work: async ([first]) => {
      if (first?.index !== 0) return;
      await clock.sleep(500);
      throw mine;
    },
  });
  await expect(clock.until(start())).rejects.toBe(mine);
  expect(clock.now()).toBe(1_000);
});

test("what an earlier run did is reported as done, and is not in the rate", async () => {
  const { clock, log, start } = scene(
    array(6),
    { batchSize: () => 4, work: () => clock.sleep(1_000) },
    behind(2),
  );
  await clock.until(start());
  expect(log).toEqual([
    { atMs: 0, done: 1, perSecond: 0, waitingFor: undefined },
    { atMs: 1_000, done: 6, perSecond: 4, waitingFor: undefined },
    { atMs: 1_000, done: 6, perSecond: 4, waitingFor: undefined },
  ]);
});

test("a run waits for a source that has no item yet, and reports this wait", async () => {
  const { clock, log, start } = scene(slowly(1), { batchSize: () => 2, work: () => clock.sleep(500) });
  await clock.until(start());
  expect(log.map(({ atMs, done, waitingFor }) => [atMs, done, waitingFor])).toEqual([
    [0, 0, "source"],
    [200, 0, "source"],
    [900, 1, undefined],
    [900, 1, undefined],
  ]);
});

test("a run stops waiting for its source when an item is there or the source has ended", async () => {
  const waitingFor: unknown[] = [];
  const { clock, progress, start } = scene(slowly(3), {
    batchSize: () => 2,
    work: async () => void waitingFor.push(progress.waitingFor),
  });
  await clock.until(start());
  expect([waitingFor, progress.waitingFor]).toEqual([[undefined, undefined], undefined]);
});

test("a run waits for a source that has no item after those of an earlier run, and reports this wait", async () => {
  const { clock, log, start } = scene(slowly(3), {}, behind(2));
  await clock.until(start());
  expect(log.map(({ atMs, done, waitingFor }) => [atMs, done, waitingFor])).toContainEqual([
    500,
    2,
    "source",
  ]);
});

test("a run that succeeds releases the clock and the client", async () => {
  const { clock, start } = scene(array(1), { totalTimeoutMs: 60_000 });
  await clock.until(start());
  expect(clock.pending).toBe(0);
});

test("a run that fails releases the clock and the client, and reports nothing afterwards", async () => {
  const mine = new Error("disk");
  const { clock, log, start } = scene(
    () =>
      (async function* () {
        yield* items(1);
        throw mine;
      })(),
    { batchSize: () => 2, totalTimeoutMs: 60_000 },
  );
  await expect(clock.until(start())).rejects.toBe(mine);
  const told = log.length;
  expect(clock.pending).toBe(0);
  await clock.advance(1_000);
  expect(log).toHaveLength(told);
});
