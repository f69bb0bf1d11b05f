import { expect, test } from "vitest";
import { issuesOf } from "../../../src/service/check.ts";
import { Contact } from "../../../src/service/contacts/schema.ts";

const contact = { id: "c_1", email: "ada@example.com" };

test.each([
  [{}],
  [{ customFields: null, listIds: null }],
  [{ customFields: {}, listIds: [] }],
  [{ customFields: { plan: "pro", nested: { seats: 4 } }, listIds: ["l_1", "l_2"] }],
])("a contact with %j fits", (fields) => {
  expect(issuesOf(Contact, { ...contact, ...fields })).toEqual([]);
});

test.each([
  [{ customFields: "plan" }, "customFields", "must be an object"],
  [{ customFields: ["plan"] }, "customFields", "must be an object"],
  [{ listIds: "l_1" }, "listIds", "must be an array of strings"],
  [{ listIds: ["l_1", null] }, "listIds", "must be an array of strings"],
])("a contact with %j does not fit", (fields, path, message) => {
  expect(issuesOf(Contact, { ...contact, ...fields })).toEqual([{ path, message }]);
});
