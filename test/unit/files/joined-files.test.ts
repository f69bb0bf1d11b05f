import { expect, test } from "vitest";
import { readContacts } from "../../../src/files/index.ts";

test("the header again is a bad line, even if columns that are left out have other names", async () => {
  async function* source() {
    yield Buffer.from("E-mail,Plan\na@b.co,pro\nE-mail,Tags\nb@b.co,new\n");
  }
  const lines: number[] = [];
  const read = readContacts(source(), {
    format: "csv",
    columns: { "E-mail": "email", "*": false },
    onInvalid: ({ line }) => void lines.push(line),
  });
  const records: unknown[] = [];
  for await (const record of read) records.push(record);
  expect(records).toEqual([{ email: "a@b.co" }, { email: "b@b.co" }]);
  expect(lines).toEqual([3]);
});
