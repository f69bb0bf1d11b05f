import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rejectedFile } from "../../../src/cli/rejections.ts";

let folder = "";
let path = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "touchpoint-cli-"));
  path = join(folder, "rejected.ndjson");
});
afterEach(() => rm(folder, { recursive: true }));

const absent = { line: undefined, email: undefined, status: undefined };
const rejected = (index: number) => ({ index, ...absent, error: "no", rejected: { name: `event ${index}` } });
const line = (index: number) => `${JSON.stringify(rejected(index))}\n`;
const content = () => readFile(path, "utf8");

test("a run from the start empties the file of an earlier one", async () => {
  await writeFile(path, line(1));
  const keep = await rejectedFile(path, false);
  await keep(rejected(7));
  expect(await content()).toBe(line(7));
});

test("a run that goes on adds what is new, once", async () => {
  await writeFile(path, line(1) + line(2));
  const keep = await rejectedFile(path, true);
  for (const index of [2, 3]) await keep(rejected(index));
  expect(await content()).toBe(line(1) + line(2) + line(3));
});

test("what a killed run left of a line is cut away and written again", async () => {
  await writeFile(path, line(1) + line(2).slice(0, 20));
  const keep = await rejectedFile(path, true);
  await keep(rejected(2));
  expect(await content()).toBe(line(1) + line(2));
});

test("a run that goes on needs no file of an earlier one", async () => {
  const keep = await rejectedFile(path, true);
  await keep(rejected(1));
  expect(await content()).toBe(line(1));
});

test("a record that cannot be kept ends the run, and the error names the file", async () => {
  const keep = await rejectedFile(path, false);
  await rm(path);
  await mkdir(path);
  await expect(keep(rejected(1))).rejects.toThrow(`--rejected: ${path} cannot be written: EISDIR`);
});

test("a file of many long lines is read on in pieces, and its letters stay whole", async () => {
  const long = (index: number) => ({ ...rejected(index), error: "é".repeat(50_000) });
  const text = [0, 1, 2, 3].map((index) => `${JSON.stringify(long(index))}\n`).join("");
  await writeFile(path, `${text}{"index":4,"error":"é`);
  const keep = await rejectedFile(path, true);
  for (const index of [0, 3]) await keep(long(index));
  expect(await content()).toBe(text);
});

test.each([
  ["records", '{"email":"ada@example.com"}\n'],
  ["a text without a line end", "my notes"],
  ["one object without a line end", '{"version":1}'],
  ["records after refused ones", `${line(1)}{"email":"ada@example.com"}\n`],
])("a file of %s is refused by name, and stays as it is", async (_, text) => {
  await writeFile(path, text);
  await expect(rejectedFile(path, true)).rejects.toThrow(
    `--rejected: ${path} contains something other than rejected records`,
  );
  expect(await content()).toBe(text);
});
