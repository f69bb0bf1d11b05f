import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRecords } from "../../../src/cli/rejections.ts";
import { readNdjson } from "../../../src/files/index.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "touchpoint-input-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

test("the number of records is estimated from the bytes so far, and exact at the end", async () => {
  const path = join(folder, "in.ndjson");
  const records = 10_000;
  const line = (index: number) => `${JSON.stringify({ index, text: "x".repeat(40) })}\n`;
  await writeFile(path, Array.from({ length: records }, (_, index) => line(index)).join(""));
  const input = openRecords(path, readNdjson);
  const totals: (number | undefined)[] = [];
  for await (const _ of input.records) totals.push(input.total());
  expect(totals[0]).toBe(undefined);
  const estimates = totals.slice(1_000);
  expect(Math.min(...estimates.map(Number))).toBeGreaterThan(records * 0.97);
  expect(Math.max(...estimates.map(Number))).toBeLessThan(records * 1.05);
  expect(input.total()).toBe(records);
});

test("the total does not count lines that cannot be read, so that progress reaches it", async () => {
  const path = join(folder, "in.ndjson");
  await writeFile(path, '{"a":1}\nbad\n{"a":2}\nworse\n');
  const { records, total } = openRecords(path, readNdjson);
  let items = 0;
  for await (const _ of records) items += 1;
  expect([items, total()]).toEqual([4, 2]);
});

test("a file that is not there is named", async () => {
  const path = join(folder, "none.ndjson");
  const { records } = openRecords(path, readNdjson);
  await expect(records.next()).rejects.toThrow(`${path}: cannot be read (ENOENT`);
});
