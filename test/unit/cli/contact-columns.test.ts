import { expect, test } from "vitest";
import { UsageError } from "../../../src/cli/command.ts";
import { columnsOf } from "../../../src/cli/contact-columns.ts";
import { scratch } from "../files/scratch.ts";

const look = (header: string, row = header.replaceAll(/[^,]/g, "")) =>
  columnsOf(scratch().put("people.csv", `${header}\n${row}\n`), undefined);

test("the fields of a contact and its custom fields are columns, also where their cells are empty", async () => {
  await expect(look("id,email,name,linkedIn,listIds,customFields.plan,createdAt,,")).resolves.toEqual({});
});

test.each([
  ["Name", "name"],
  [" NAME ", "name"],
  ["linked_in", "linkedIn"],
  ["created-at", "createdAt"],
  ["SOURCE", "source"],
  ["customfields.plan", "customFields.plan"],
])("%j is refused, and %j suggested", async (column, meant) => {
  const looked = look(`email,${column}`, "ada@example.com,x");
  await expect(looked).rejects.toThrow(
    `people.csv: "${column.trim()}" is no field of a contact (did you mean "${meant}"?).`,
  );
  await expect(looked).rejects.toBeInstanceOf(UsageError);
});

test("blanks around a name are left out", async () => {
  expect(await look("email, name,customFields.seats ,,  ", "ada@example.com,,,,")).toEqual({
    ...{ " name": "name", "customFields.seats ": "customFields.seats", "  ": "" },
  });
});

test("every such column is named at once, with the fields that there are", async () => {
  await expect(look("email,NAME,city")).rejects.toThrow(
    /"NAME" .* "name"\?\)\. "city" is no field of a contact\. The fields are id, email, .*; a custom one is customFields\.<its name>\. Rename such a column in the first line of the file$/,
  );
});

test("bad lines before the first record are passed over", async () => {
  await expect(look("email,NAME", "x\nada@example.com,Ada")).rejects.toThrow('"NAME"');
});
