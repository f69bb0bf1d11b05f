import { expect, test } from "vitest";
import { UsageError } from "../../../src/cli/command.ts";
import { contactColumns } from "../../../src/cli/contact-columns.ts";
import { scratch } from "../files/scratch.ts";

const look = async (header: string, row = header.replaceAll(/[^,]/g, "")) => {
  const path = scratch().put("people.csv", `${header}\n${row}\n`);
  const told: string[] = [];
  const columns = await contactColumns(
    { stderr: { write: (text) => told.push(text.replace(path, "people.csv")) } },
    path,
  );
  return { columns, told };
};

test("the fields of a contact and its custom fields are columns without a word", async () => {
  expect(await look("id,email,name,linkedIn,listIds,customFields.plan,createdAt")).toEqual({
    columns: {},
    told: [],
  });
});

test("blanks around a name are left out, also of a column whose cells are empty", async () => {
  expect(await look("email, name,customFields.seats ,,  ", "ada@example.com,,,,")).toEqual({
    columns: { " name": "name", "customFields.seats ": "customFields.seats", "  ": "" },
    told: [],
  });
});

test.each([
  ["Name", "name"],
  [" NAME ", "name"],
  ["linked_in", "linkedIn"],
  ["Linked In", "linkedIn"],
  ["created-at", "createdAt"],
  ["SOURCE", "source"],
  ["ID", "id"],
  ["customfields.plan", "customFields.plan"],
])("%j is refused as %j", async (column, meant) => {
  const looked = look(`email,${column}`, "ada@example.com,x");
  await expect(looked).rejects.toThrow(
    `the column "${column.trim()}" is no field of a contact: rename it to "${meant}" if that is meant`,
  );
  await expect(looked).rejects.toBeInstanceOf(UsageError);
});

test("every such column is named at once", async () => {
  await expect(look("E-mail,NAME")).rejects.toThrow(
    /"E-mail" .* "email" .*; the column "NAME" .* "name" .*; a custom field is named customFields\.<its name>$/,
  );
});

test("other columns are reported in one line, also one whose like has a column of its own", async () => {
  expect(await look("email,name,Name,city,State,ix")).toEqual({
    columns: {},
    told: [
      'people.csv: sent as named, though no documented field of a contact: columns "Name", "city", "State", "ix"; ' +
        "a custom field is named customFields.<its name>\n",
    ],
  });
});

test("bad lines before the first record are passed over", async () => {
  await expect(look("email,NAME", "x\nada@example.com,Ada")).rejects.toThrow('"NAME"');
});
