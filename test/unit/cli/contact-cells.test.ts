import { expect, test } from "vitest";
import { contactCells, writableFields } from "../../../src/cli/contact-cells.ts";

const read = (column: string, cell: string, ...json: string[]) =>
  contactCells(json)(cell, { column, line: 2 });

test.each([
  ["phone", "0049 30 1", "0049 30 1"],
  ["customFields.seats", "80", "80"],
  ["verified", "true", true],
  ["verified", "false", false],
  ["verified", "maybe", "maybe"],
  ["emailConfidence", "0.5", 0.5],
  ["emailConfidence", "high", "high"],
  ["listIds", "a;b", ["a", "b"]],
  [" verified ", "true", true],
  ["constructor", "x", "x"],
])("a cell of %s: %s", (column, cell, value) => {
  expect(read(column, cell)).toEqual(value);
});

test("a column that is said to be JSON is read as such, and a cell that is none is a bad line", () => {
  expect(read("customFields.seats", "80", "customFields.seats")).toBe(80);
  expect(() => read("customFields.seats", "eighty", "customFields.seats")).toThrow(SyntaxError);
});

test("what the service sets itself is not written", () => {
  const exported = { id: "ct_1", email: "a@example.com", externalId: "u", createdAt: "…", updatedAt: "…" };
  expect(writableFields(exported)).toEqual({ email: "a@example.com" });
});
