import { expect, test } from "vitest";
import { openRecords, UnreadableLine } from "../../../src/cli/rejections.ts";
import { readNdjson } from "../../../src/files/index.ts";
import { lineOf, unreadableReason } from "../../../src/runtime/source-line.ts";
import { scratch } from "../files/scratch.ts";

const read = async (text: string) => {
  const found: object[] = [];
  const { records } = openRecords<object>(scratch().put("events.ndjson", text), readNdjson);
  for await (const record of records) found.push(record);
  return found;
};

test("a line that holds no record keeps its place among them", async () => {
  const found = await read('oops\n{"a":1}\n[2]\n\n{"a":3}\nlast');
  expect(found).toEqual([
    expect.objectContaining({ text: "oops" }),
    { a: 1 },
    expect.objectContaining({ text: "[2]" }),
    { a: 3 },
    expect.objectContaining({ text: "last" }),
  ]);
  expect(unreadableReason(found[2])).toBe("not a JSON object; each line must contain one record, { … }");
  expect(found.map(lineOf)).toEqual([1, 2, 3, 5, 6]);
});

test("an unreadable line can be told from a record", async () => {
  const found = await read('oops\n{"line":1,"text":"","error":""}');
  expect(found.map((record) => record instanceof UnreadableLine)).toEqual([true, false]);
});

test("a refused text is still unreadable, and what to do is its error", async () => {
  const refused = { index: 4, line: 6, error: "9 cells where the header has 8 columns" };
  const [text, record] = await read(
    [
      { ...refused, rejected: "a,b" },
      { ...refused, rejected: { email: "a" } },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  );
  expect(text).toMatchObject({ text: "a,b" });
  expect([lineOf(text), unreadableReason(text)]).toEqual([
    6,
    'the field "rejected" still contains text: replace it with a JSON object',
  ]);
  expect(record).toEqual({ email: "a" });
});

test("1,000 unreadable lines in a row are put up with, one more is another kind of file", async () => {
  expect(await read(`${"x\n".repeat(1_000)}{}\n${"x\n".repeat(1_000)}`)).toHaveLength(2_001);
  await expect(read(`{}\n${"x\n".repeat(1_001)}`)).rejects.toThrow("events.ndjson line 1002: not JSON");
});
