import { expect, test } from "vitest";
import { issuesOf } from "../../../src/service/check.ts";
import { ContactInput, ContactPatch } from "../../../src/service/contacts.ts";

const single = [
  "name",
  "title",
  "phone",
  "linkedIn",
  "stage",
  "source",
  "verified",
  "emailConfidence",
  "leadId",
];

test.each([...single, "notes"])("an update may clear %s with null", (field) => {
  expect(issuesOf(ContactPatch, { [field]: null })).toEqual([]);
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
