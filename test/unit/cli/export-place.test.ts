import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadPlace, removePlace, savePlace } from "../../../src/cli/export-place.ts";

let folder = "";
let path = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "touchpoint-cli-"));
  path = join(folder, "place.json");
  await writeFile(join(folder, "draft"), "");
});
afterEach(() => rm(folder, { recursive: true }));

const subject = { baseUrl: "http://localhost", search: null, columns: ["email"] };
const place = { version: 1, subject, cursor: "A", beyond: ["1"], records: 3, bytes: 90 } as const;
const save = () => savePlace(path, place, join(folder, "draft"));

test("a place that is saved is there again", async () => {
  expect(await loadPlace(path, subject)).toBeUndefined();
  await save();
  expect(await loadPlace(path, subject)).toEqual(place);
});

test("saving and removing leave nothing else behind", async () => {
  await save();
  expect(await readdir(folder)).toEqual(["draft", "place.json"]);
  await removePlace(path);
  expect(await readdir(folder)).toEqual(["draft"]);
});

test.each([
  { ...subject, search: "ann" },
  { ...subject, columns: ["email", "name"] },
  { ...subject, baseUrl: "http://elsewhere" },
])("the place of another export is refused: %j", async (other) => {
  await save();
  await expect(loadPlace(path, other)).rejects.toThrow(/belongs to an export with another/);
});

test.each(["", "{", "[]", '{"version":2}', '{"version":1,"subject":{},"cursor":1}'])(
  "a damaged place is refused: %s",
  async (text) => {
    await writeFile(path, text);
    await expect(loadPlace(path, subject)).rejects.toThrow("is damaged: leave out --resume to start over");
  },
);
