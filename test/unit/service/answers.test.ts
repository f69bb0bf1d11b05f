import { expect, test } from "vitest";
import { issuesOf } from "../../../src/service/check.ts";
import type { Schema } from "../../../src/service/common.ts";
import { Company, CompanyCreated } from "../../../src/service/companies.ts";
import { Contact, ContactPage } from "../../../src/service/contacts.ts";
import { ScheduledEmail, SentEmail } from "../../../src/service/emails.ts";
import { BatchAnswer, EventReceipt } from "../../../src/service/events.ts";
import { List } from "../../../src/service/lists.ts";
import { samples } from "../../contract/samples.ts";
import { aContact } from "../../support/builders.ts";

const contact = aContact("c_1");

test.each([
  [{}],
  [{ customFields: { plan: "pro", nested: { seats: 4 } }, listIds: ["l_1", "l_2"] }],
  [{ name: null, notes: null, leadId: null, externalId: null, emailConfidence: null }],
])("a contact with %j fits", (fields) => {
  expect(issuesOf(Contact, { ...contact, ...fields })).toEqual([]);
});

test.each([
  [{ customFields: "plan" }, "customFields", "must be an object"],
  [{ customFields: ["plan"] }, "customFields", "must be an object"],
  [{ customFields: undefined }, "customFields", "must be an object"],
  [{ listIds: "l_1" }, "listIds", "must be an array of strings"],
  [{ listIds: ["l_1", null] }, "listIds", "must be an array of strings"],
  [{ listIds: null }, "listIds", "must be an array of strings"],
])("a contact with %j does not fit", (fields, path, message) => {
  expect(issuesOf(Contact, { ...contact, ...fields })).toEqual([{ path, message }]);
});

const list = { id: "l-1", name: "Readers" };
const batchItem = samples.batchAnswer.results[0];

/** What is always there, as contract.md lists it; all else may be missing. */
const always: readonly (readonly [string, Schema<never> | Schema, object, readonly string[]])[] = [
  [
    "Contact",
    Contact,
    samples.contact,
    ["id", "email", "stage", "source", "verified", "customFields", "listIds", "createdAt", "updatedAt"],
  ],
  ["Page", ContactPage, samples.contactPage, ["data", "total", "skip", "limit"]],
  [
    "EventReceipt",
    EventReceipt,
    samples.receipt,
    [
      ...["id", "name", "outcome", "duplicate", "createdContact"],
      ...["runsStarted", "runsExited", "runsResumed", "runsConverted"],
    ],
  ],
  ["SentEmail", SentEmail, samples.sentEmail, Object.keys(samples.sentEmail)],
  ["ScheduledEmail", ScheduledEmail, samples.scheduledEmail, Object.keys(samples.scheduledEmail)],
  ["List", List, list, ["id", "name"]],
  ["Company", Company, { id: "co-1", companyName: "x", domain: "x.example", industry: "x" }, ["id"]],
  ["CompanyCreated", CompanyCreated, { id: "co-1", contactIds: [] }, ["id"]],
  ["BatchAnswer", BatchAnswer, samples.batchAnswer, ["accepted", "rejected", "results"]],
];

test.each(always)(
  "of %s, what is always there is missed where it is not",
  (_name, schema, sample, fields) => {
    const missed = Object.keys(sample).filter((field) => {
      const issues = issuesOf(schema, { ...sample, [field]: undefined });
      return issues.some(({ path }) => path === field);
    });
    expect(missed.toSorted()).toEqual(fields.toSorted());
  },
);

test("of a result that was recorded, all but a duplicate is always there; of another, nothing", () => {
  const missed = (status: number) =>
    Object.keys(batchItem).filter((field) => {
      const results = [{ ...batchItem, status, [field]: undefined }];
      return issuesOf(BatchAnswer, { ...samples.batchAnswer, results }).length > 0;
    });
  expect(missed(202)).toEqual(["id", "name", "outcome", "runsStarted"]);
  expect(missed(400)).toEqual([]);
});

test("the status of a result is a whole number", () => {
  const issues = issuesOf(BatchAnswer, {
    ...samples.batchAnswer,
    results: [{ ...batchItem, status: 202.5 }],
  });
  expect(issues.map(({ path }) => path)).toEqual(["results[0].status"]);
});
