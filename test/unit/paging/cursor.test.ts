import { expect, test } from "vitest";
import { ValidationError } from "../../../src/errors.ts";
import { readCursor, writeCursor } from "../../../src/paging/cursor.ts";

const place = { position: 0, read: 3, longest: 2, recent: ["a", "b"] };
const packed = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const errorOf = (cursor: unknown): unknown => {
  try {
    return readCursor("contacts.list", cursor);
  } catch (error) {
    return error;
  }
};

test("a cursor leads back to its place, also to the very beginning", () => {
  expect(readCursor("contacts.list", writeCursor(place))).toMatchObject(place);
});

test.each([
  ["no JSON", "hello"],
  ["a number", packed(5)],
  ["null", packed(null)],
  ["another version", packed({ v: 2, ...place })],
  ["a position below 0", packed({ v: 1, ...place, position: -1 })],
  ["half a record", packed({ v: 1, ...place, position: 0.5 })],
  ["no count of records", packed({ v: 1, ...place, read: undefined })],
  ["no longest page", packed({ v: 1, ...place, longest: "2" })],
  ["no ids", packed({ v: 1, ...place, recent: "a" })],
  ["an id that is none", packed({ v: 1, ...place, recent: ["a", 5] })],
])("what is no cursor is refused by name: %s", (_what, cursor) => {
  const error = errorOf(cursor);
  expect(error).toBeInstanceOf(ValidationError);
  expect(error).toMatchObject({
    message: "contacts.list: cursor: must be the cursor of a page of this list",
    issues: [{ path: "cursor", message: "must be the cursor of a page of this list" }],
  });
});
