import { expect, test } from "vitest";
import { issuesOf } from "../../../src/service/check.ts";
import { ContactInput, ContactPatch } from "../../../src/service/contacts.ts";

const clearable = ["name", "title", "phone", "linkedIn", "leadId"];
const always = ["stage", "source", "verified", "emailConfidence"];
const single = [...clearable, ...always];

test.each([...clearable, "notes"])("an update may clear %s with null", (field) => {
  expect(issuesOf(ContactPatch, { [field]: null })).toEqual([]);
});

test.each(always)("an update cannot clear %s", (field) => {
  expect(issuesOf(ContactPatch, { [field]: null })).toMatchObject([{ path: field }]);
});

test("an update cannot take the address away, and says how to empty what has parts", () => {
  expect(issuesOf(ContactPatch, { email: null, listIds: null, customFields: null })).toEqual([
    { path: "email", message: "must be an email address (a string)" },
    { path: "customFields", message: "must be an object ({ key: null } clears a key)" },
    { path: "listIds", message: "must be an array of list ids ([] for none)" },
  ]);
});

test.each(single)("a new contact has no %s to clear", (field) => {
  expect(issuesOf(ContactInput, { email: "ada@example.com", [field]: null })).toMatchObject([
    { path: field },
  ]);
});
