import { expect, test } from "vitest";
import { importContacts } from "../../../src/bulk/import.ts";
import type { ImportOptions, RejectedContact } from "../../../src/bulk/import-options.ts";
import { ApiError, ConfigurationError, ValidationError } from "../../../src/errors.ts";
import type { Checkpoint, CheckpointStore } from "../../../src/runtime/checkpoint.ts";
import { contentHash } from "../../../src/runtime/content-hash.ts";
import type { GivenContact } from "../../../src/workspace/contact-types.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { emptyWorkspace, type RowResult } from "../../support/import-context.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

const never = new Promise<never>(() => undefined);

const rows = (count: number): GivenContact[] =>
  Array.from({ length: count }, (_, index) => ({ email: `p${index}@example.com`, title: "T" }));

const failure = (status: number): ApiError =>
  new ApiError(`no: ${status}`, {
    ...{ operation: "contacts.create", outcome: "not-applied", status },
    ...{ headers: new Headers(), body: undefined },
  });

/** A service whose upserts end as told, row by row of those that come to it, and whose lists take everybody. */
const service = (upsert: (at: number) => Promise<RowResult> = async () => "created") => {
  const clock = new FakeClock();
  const seen = { upserts: 0 };
  /** Of each addition to a list: how many, and after how many rows. */
  const additions: (readonly [count: number, upserts: number])[] = [];
  const answering = emptyWorkspace(
    () => upsert(seen.upserts++),
    async (emails) => {
      additions.push([emails.length, seen.upserts]);
      return {};
    },
  );
  const call = scriptedCall(clock, answering);
  const run = (source: readonly GivenContact[], options: ImportOptions = {}) =>
    clock.until(importContacts(source, options, call));
  return { clock, call, seen, additions, run };
};

const storeOf = (state?: Checkpoint): CheckpointStore => ({
  load: async () => state,
  save: async () => undefined,
});

test.each([400, 404, 409, 413, 422])(
  "a row that the service refuses with a %i is rejected alone",
  async (status) => {
    const { run } = service(async (at) => (at === 1 ? Promise.reject(failure(status)) : "created"));
    const rejected: RejectedContact[] = [];
    const report = await run(rows(3), { onRejected: (row) => void rejected.push(row) });
    expect(report).toMatchObject({ created: 2, rejected: 1, unknown: 0 });
    const error = `no: ${status}`;
    const [, contact] = rows(3);
    expect(rejected).toEqual([{ contact, index: 1, email: "p1@example.com", status, error }]);
  },
);

test("a row does not overtake an earlier one with its address that has ended the run", async () => {
  const { run, seen, clock } = service(async () => {
    await clock.sleep(1_000);
    throw failure(500);
  });
  const same: GivenContact = { email: "P0@example.com", title: "later" };
  await expect(run([...rows(25), same], { mode: "create", concurrency: 2 })).rejects.toThrow("no: 500");
  expect(seen.upserts).toBe(1);
});

test.each([401, 403, 405, 410, 429, 500])(
  "a %i, which is not about the row, ends an import",
  async (status) => {
    const { run } = service(async (at) => (at === 1 ? Promise.reject(failure(status)) : "created"));
    await expect(run(rows(3))).rejects.toMatchObject({
      status,
      partial: { report: { created: 1, rejected: 0, unknown: 2 } },
    });
  },
);

test("the number of read rows is the sum of all results, and the report has the elapsed time", async () => {
  // By how often each comes: 1 created, 2 updated, 3 unchanged, 4 refused unsent, 5 skipped.
  const results = ["created", "updated", "updated", "unchanged", "unchanged", "unchanged"] as const;
  const { clock, run } = service(async (at) => {
    await clock.sleep(10);
    return results[at] ?? "created";
  });
  await clock.advance(50);
  const source = rows(15).map((row, index) => (index > 10 ? { email: "" } : row));
  const checkpoint = storeOf({ version: 1, done: 5, last: contentHash(rows(5)[4]) });
  expect(await run(source, { checkpoint })).toEqual({
    ...{ read: 15, skipped: 5, created: 1, updated: 2, unchanged: 3, rejected: 4, unknown: 0 },
    elapsedMs: 60,
  });
});

test("the time of a report is in whole milliseconds", async () => {
  const { clock, run } = service(async () => {
    await clock.sleep(10.4);
    return "created";
  });
  expect(await run(rows(1))).toMatchObject({ elapsedMs: 10 });
});

test("an import whose checkpoint is damaged has read nothing", async () => {
  const { run, seen } = service();
  const load = async (): Promise<unknown> => ({ version: 2 });
  const error = await run(rows(3), { checkpoint: { ...storeOf(), load } }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({
    partial: {
      report: {
        ...{ read: 0, skipped: 0, created: 0, updated: 0, unchanged: 0, rejected: 0, unknown: 0 },
        elapsedMs: 0,
      },
    },
  });
  expect(seen.upserts).toBe(0);
});

test.each([null, undefined, 5, "ada@example.com"])(
  "a row that is %j is rejected, and the others are imported",
  async (row) => {
    const { run } = service();
    const told: (string | undefined)[] = [];
    const source = [row as never, ...rows(2)];
    const { created, rejected } = await run(source, { onRejected: ({ error }) => void told.push(error) });
    expect({ created, rejected, told }).toEqual({
      created: 2,
      rejected: 1,
      told: [expect.stringContaining("must be")],
    });
  },
);

test("eight rows are under way at once, unless told otherwise", async () => {
  const { call, seen } = service(() => never);
  void importContacts(rows(1_000), {}, call);
  for (let turns = 50; turns > 0; turns -= 1) await turn();
  expect(seen.upserts).toBe(8);
});

test("an import adds contacts to its list after each 1,000 rows, and the rest at its end", async () => {
  const { additions, run } = service();
  await run(rows(2_110), { addToList: "list", concurrency: 1 });
  expect(additions).toEqual([
    [1_000, 1_000],
    [1_000, 2_000],
    [110, 2_110],
  ]);
});

test("an import that fills a list tells its progress between the requests for the list", async () => {
  const { clock, run } = service(async () => {
    await clock.sleep(10);
    return "created";
  });
  const told: number[] = [];
  await run(rows(100), { addToList: "list", concurrency: 1, onProgress: ({ done }) => void told.push(done) });
  expect(told).toEqual([25, 50, 75, 100, 100]);
});

test.each(["", 7, null])("%j is no list to add to, and nothing is sent", async (addToList) => {
  const { run, seen } = service();
  // As a caller without types may.
  const error = await run(rows(1), { addToList: addToList as string }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ValidationError);
  expect([error, seen.upserts]).toMatchObject([
    { message: `contacts.import: addToList must be a list id, got ${JSON.stringify(addToList)}` },
    0,
  ]);
});
