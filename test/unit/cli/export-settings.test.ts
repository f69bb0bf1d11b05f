import { expect, test } from "vitest";
import { exportSettings } from "../../../src/cli/contacts-export.ts";

test("a CSV export without --columns has every documented field, and the custom ones in one column", () => {
  const { columns } = exportSettings({ values: { out: "all.csv" } });
  expect(columns).toContain("customFields");
  expect(columns).toHaveLength(17);
});

test("an NDJSON export has no columns, and given ones stand", () => {
  expect(exportSettings({ values: { out: "all.ndjson" } }).columns).toBeUndefined();
  expect(exportSettings({ values: { out: "all.csv", columns: "email,name" } }).columns).toEqual([
    "email",
    "name",
  ]);
});

test.each([
  ["linked_in", '"linked_in" is not a field of a contact (did you mean "linkedIn"?). The fields are id, '],
  ["phnoe", '"phnoe" is not a field of a contact (did you mean "phone"?). The fields are id, '],
  ["xy", '"xy" is not a field of a contact. The fields are id, '],
  ["email.work", '"email.work" is not a field of a contact (did you mean "email"?). The fields are id, '],
  ["color", '"color" is not a field of a contact. The fields are id, '],
  ["color,phnoe", 'a contact. "phnoe" is not a field of a contact (did you mean "phone"?). The fields'],
])("--columns %s is refused in sentences", (columns, message) => {
  expect(() => exportSettings({ values: { out: "all.csv", columns } })).toThrow(message);
});
