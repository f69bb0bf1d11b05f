import { expect, test } from "vitest";
import { type Checkpoint, CheckpointWriter } from "../../../src/bulk/checkpoint.ts";
import { turn } from "../../support/fake-clock.ts";

const at = (done: number): Checkpoint => ({ version: 1, done, last: null });

/** A writer over a store whose saves end when the test says so. */
const aWriter = () => {
  const saves: { readonly done: number; end(): void; fail(): void }[] = [];
  const writer = new CheckpointWriter({
    load: async () => undefined,
    save: ({ done }) =>
      new Promise<void>((resolve, reject) => {
        saves.push({ done, end: resolve, fail: () => reject(new Error("full")) });
      }),
  });
  const save = (done: number): Promise<string> =>
    writer.save(at(done)).then(
      () => `${done} is stored`,
      (error: Error) => error.message,
    );
  return { saves, save, stored: () => saves.map(({ done }) => done) };
};

test("one save at a time, and only the newest of those that wait", async () => {
  const { saves, save, stored } = aWriter();
  const first = save(1);
  await turn();
  const [second, third] = [save(2), save(3)];
  await turn();
  expect(stored()).toEqual([1]);
  saves[0]?.end();
  await turn();
  expect(stored()).toEqual([1, 3]);
  saves[1]?.end();
  expect(await Promise.all([first, second, third])).toEqual(["1 is stored", "2 is stored", "3 is stored"]);
  expect(stored()).toEqual([1, 3]);
});

test("a failure does not put an older state in the place of a newer one", async () => {
  const { saves, save, stored } = aWriter();
  const first = save(1);
  await turn();
  const second = save(2);
  saves[0]?.fail();
  await turn();
  expect(stored()).toEqual([1, 2]);
  saves[1]?.end();
  expect(await Promise.all([first, second])).toEqual(["full", "2 is stored"]);
});
