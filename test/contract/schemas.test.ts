import { expect, test } from "vitest";
import { issuesOf } from "../../src/service/check.ts";
import type { Schema } from "../../src/service/common.ts";
import { Company, CompanyInput } from "../../src/service/companies.ts";
import { Contact, ContactInput, ContactPage, ContactPatch } from "../../src/service/contacts.ts";
import { EmailInput, ScheduledEmail, ScheduledEmailInput, SentEmail } from "../../src/service/emails.ts";
import { BatchAnswer, EventBatch, EventInput, EventReceipt } from "../../src/service/events.ts";
import { List, ListInput, ListMembers } from "../../src/service/lists.ts";
import { samples } from "./samples.ts";

const { contact, company, event, email } = samples;
const sendAt = "2026-02-01T09:00:00+01:00";
const writable = {
  email: contact.email,
  name: contact.name,
  customFields: { plan: null },
  leadId: contact.leadId,
};

const fitting: [string, Schema<never> | Schema, unknown][] = [
  ["a contact", Contact, contact],
  ["a page of contacts", ContactPage, { ...samples.contactPage, data: [contact], total: 1 }],
  ["a new contact", ContactInput, writable],
  ["a patch", ContactPatch, { email: contact.email, stage: "REPLIED", customFields: {}, listIds: [] }],
  ["a company", Company, { id: "<company_id>", ...company }],
  ["a new company", CompanyInput, company],
  ["a list", List, { id: "<list_id>", name: "Newsletter" }],
  ["a new list", ListInput, { name: "Newsletter" }],
  ["1,000 addresses", ListMembers, { emails: Array(1_000).fill("ada@example.com") }],
  ["an event", EventInput, event],
  ["an event of a contact by id", EventInput, { name: "x", contact: { id: "<contact_id>" } }],
  ["an event's receipt", EventReceipt, samples.receipt],
  ["a receipt of nobody", EventReceipt, { ...samples.receipt, outcome: "NO_CONTACT", note: null }],
  ["100 events", EventBatch, { events: Array(100).fill(event) }],
  ["a batch's answer", BatchAnswer, samples.batchAnswer],
  ["an email", EmailInput, email],
  ["an email in plain text", EmailInput, { to: email.to, subject: email.subject, text: "Hello" }],
  ["an email for later", ScheduledEmailInput, { ...email, sendAt }],
  ["a sent email", SentEmail, samples.sentEmail],
  ["a scheduled email", ScheduledEmail, samples.scheduledEmail],
];

test.each(fitting)("%s fits its schema", (_, schema, sample) => {
  expect(issuesOf(schema, sample)).toEqual([]);
});

const faulty: [string, Schema<never> | Schema, unknown][] = [
  ["1,001 addresses", ListMembers, { emails: Array(1_001).fill("ada@example.com") }],
  ["101 events", EventBatch, { events: Array(101).fill(event) }],
  ["no event", EventBatch, { events: [] }],
  ["an event without a name", EventInput, { contact: event.contact }],
  ["an event of nobody", EventInput, { name: "x", contact: {} }],
  ["an event of the service", EventInput, { ...event, name: "service.email_opened" }],
  ["a property called password", EventInput, { ...event, properties: { password: "x" } }],
  ["a property called card_number", EventInput, { ...event, properties: { card_number: "x" } }],
  ["a property called ssn", EventInput, { ...event, properties: { ssn: "x" } }],
  ["an email with html and text", EmailInput, { ...email, text: "Hello" }],
  ["an email with neither", EmailInput, { to: email.to, subject: email.subject }],
  ["an email without a subject", EmailInput, { to: email.to, html: "<p></p>" }],
  ["an email for later without a zone", ScheduledEmailInput, { ...email, sendAt: "2026-02-01T09:00:00" }],
];

test.each(faulty)("%s does not fit", (_, schema, sample) => {
  expect(issuesOf(schema, sample)).not.toEqual([]);
});
