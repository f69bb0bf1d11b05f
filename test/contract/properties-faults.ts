import fc from "fast-check";
import { properties } from "./properties-calls.ts";

/** Inputs that are wrong in one field. */
export interface Fault {
  /** As the error must name it. */
  readonly field: string;
  readonly payload: fc.Arbitrary<unknown>;
}

class Sealed {
  readonly #inside = 1;
  get inside() {
    return this.#inside;
  }
}
const cycle: Record<string, unknown> = {};
cycle.self = { again: cycle };

const anything = (...values: readonly unknown[]): fc.Arbitrary<unknown> => fc.constantFrom(...values);
const noText = anything(null, 1, Number.NaN, true, [], ["x"], {}, 10n, Symbol("x"), () => "x", new Date(0));
const blank = anything("", " ", "\n\t", "\u00a0");
// Written into a query it would become another character.
const halfPair = anything("\ud800", "ada\udc00@example.com");
const missing = fc.constant(undefined);
const noFlag = anything(null, 0, 1, "true", "", {}, [], 10n);
const noNumber = anything(null, "1", true, {}, 10n, Number.NaN, Number.POSITIVE_INFINITY);
const noAddress = fc.oneof(
  noText,
  blank,
  fc.string().filter((text) => !text.includes("@")),
  anything("ada@", "@example.com", " ada@example.com", "ada@example.com\n", "a\0@example.com", "@"),
);
const unfit = anything(
  Number.NaN,
  Number.NEGATIVE_INFINITY,
  10n,
  Symbol("x"),
  () => 1,
  cycle,
  new Map([["a", 1]]),
  new Set(),
  new Sealed(),
  new Date(Number.NaN),
  /x/,
);
const noRecord = fc.oneof(
  anything(null, "x", 1, true, [], new Date(0)),
  unfit,
  unfit.map((value) => ({ inside: value })),
  unfit.map((value) => ({ fine: 1, deep: [{ inside: value }] })),
);
const noMoment = anything(
  null,
  0,
  1_767_225_600_000,
  Number.NaN,
  10n,
  true,
  {},
  [],
  "",
  "tomorrow",
  "2026-02-01",
  "2026-02-01T09:00:00",
  "2026-02-01T09:00:00.000",
  "2026-13-01T09:00:00Z",
  "2026-02-01T25:00:00Z",
  "2026-02-30T09:00:00Z",
  "09:00:00Z",
  new Date(Number.NaN),
  Symbol("x"),
);
const noCount = anything(-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null, true, 10n, 2 ** 53);
const noLimit = fc.oneof(noCount, anything(0, 201, 1_000_000));

const optionalText = fc.oneof(noText, blank);
const requiredText = fc.oneof(optionalText, missing);

const validFor = (operation: string): fc.Arbitrary<unknown> => {
  const property = properties.find((one) => one.operation === operation);
  if (property === undefined) throw new Error(`no property of ${operation}`);
  return property.payload;
};

/** The same object with one field, or one field of a field, put in place. */
const put = (target: unknown, [name = "", ...inner]: readonly string[], value: unknown): unknown => ({
  // Every payload that is put into is an object.
  ...(target as Record<string, unknown>),
  [name]: inner.length === 0 ? value : put((target as Record<string, unknown>)[name], inner, value),
});

const faults = (operation: string, table: Readonly<Record<string, fc.Arbitrary<unknown>>>): Fault[] =>
  Object.entries(table).map(([field, bad]) => ({
    field,
    payload: fc.tuple(validFor(operation), bad).map(([valid, value]) => put(valid, field.split("."), value)),
  }));

const contact = {
  name: noText,
  title: noText,
  phone: noText,
  linkedIn: noText,
  notes: noText.filter((value) => value !== null),
  stage: noText,
  source: noText,
  verified: noFlag,
  emailConfidence: noNumber,
  customFields: noRecord,
  leadId: optionalText,
  listIds: anything(null, "x", 1, {}),
};
// Null clears these; what has parts is emptied part by part.
const { customFields, listIds, ...single } = contact;
const patch = {
  ...Object.fromEntries(
    Object.entries(single).map(([name, bad]) => [name, bad.filter((value) => value !== null)]),
  ),
  customFields,
  listIds,
};
const event = {
  name: fc.oneof(requiredText, anything("service.", "service.opened")),
  id: optionalText,
  contact: anything(undefined, null, {}, { email: undefined }, "ada@example.com", 1, [], 10n),
  "contact.email": noAddress,
  "contact.externalId": optionalText,
  "contact.id": optionalText,
  properties: fc.oneof(noRecord, anything({ password: "x" }, { card_number: 1 }, { ssn: null, other: 2 })),
  "properties.Card_Number": anything(1, null, { deep: 1 }),
  contactFields: noRecord,
  "contactFields.email": noAddress,
  "contactFields.name": noText.filter((value) => value !== null),
  occurredAt: noMoment,
  createContact: noFlag,
};
const company = { companyName: optionalText, domain: optionalText, industry: noText };
const email = {
  to: fc.oneof(noAddress, missing),
  subject: requiredText,
  signatureId: optionalText,
  force: noFlag,
};
const emailPatch = { to: noAddress, subject: optionalText };
const listed = anything("ada@example.com", null, undefined, 1, {}, () => [], 10n);

/** A fault in one item of an array of inputs. */
const inArray = (name: string, items: fc.Arbitrary<unknown>, bad: readonly Fault[]): Fault[] =>
  bad.flatMap(({ field, payload }) =>
    [0, 1, 150].map((index) => ({
      field: `${name}[${index}]${field === "" ? "" : `.${field}`}`,
      payload: fc.tuple(items, payload).map(([item, fault]) => [...Array(index).fill(item), fault, item]),
    })),
  );

/** What may be wrong with the input of each operation, and how it must be told. */
export const faultsOf: Readonly<Record<string, readonly Fault[]>> = {
  "contacts.create": faults("contacts.create", { email: fc.oneof(noAddress, missing), ...contact }),
  "contacts.list": faults("contacts.list", {
    search: fc.oneof(noText, halfPair),
    skip: noCount,
    limit: noLimit,
  }),
  "contacts.update": faults("contacts.update", { email: noAddress, ...patch }),
  "companies.create": [
    ...faults("companies.create", { ...company, contacts: anything(null, "x", {}, 1) }),
    {
      field: "contacts[0].email",
      payload: fc.tuple(validFor("companies.create"), fc.oneof(noAddress, missing)).map(([valid, bad]) => ({
        ...Object(valid),
        contacts: [{ email: bad }],
      })),
    },
  ],
  "companies.update": faults("companies.update", company),
  "companies.findByDomain": [{ field: "domain", payload: fc.oneof(requiredText, halfPair) }],
  "lists.create": faults("lists.create", { name: requiredText }),
  "lists.addContacts": [
    { field: "emails", payload: listed },
    ...inArray("emails", fc.constant("ada@example.com"), [{ field: "", payload: noAddress }]),
  ],
  "lists.removeContacts": [
    { field: "emails", payload: listed },
    ...inArray("emails", fc.constant("ada@example.com"), [{ field: "", payload: noAddress }]),
  ],
  "events.record": faults("events.record", event),
  "events.recordBatch": [
    { field: "events", payload: listed },
    // Alone: beside a valid event it would be refused in its own result.
    ...faults("events.record", event).map(({ field, payload }) => ({
      field: `events[0].${field}`.replace(/\.$/, ""),
      payload: payload.map((given) => [given]),
    })),
  ],
  "emails.send": [
    ...faults("emails.send", { ...email, sendAt: anything(new Date(0), "2026-02-01T09:00:00Z", null, 1) }),
    {
      field: "html and text",
      payload: fc
        .tuple(validFor("emails.send"), anything({ html: "x", text: "x" }, {}))
        .map(([valid, bodies]) => {
          const { html: _html, text: _text, ...rest } = Object(valid);
          return { ...rest, ...Object(bodies) };
        }),
    },
  ],
  "emails.schedule": faults("emails.schedule", { ...email, sendAt: fc.oneof(noMoment, missing) }),
  "emails.scheduled.list": faults("emails.scheduled.list", { skip: noCount, limit: noLimit }),
  "emails.scheduled.update": faults("emails.scheduled.update", {
    ...email,
    to: emailPatch.to,
    subject: emailPatch.subject,
    sendAt: noMoment,
  }),
  "emails.scheduled.cancel": [],
};

/** What no path may carry. */
export const noId = fc.oneof(
  noText,
  missing,
  anything("", ".", "..", "a".repeat(10_000), "\ud800", "a\udc00b"),
  fc
    .tuple(fc.string(), fc.integer({ min: 0xd800, max: 0xdfff }))
    .map(([text, half]) => text + String.fromCharCode(half)),
);

const address = "ada@example.com";
const aContact = [
  ...["email", "name", "title", "phone", "linkedIn", "notes", "stage", "source", "verified"],
  ...["emailConfidence", "customFields", "leadId", "listIds"],
];
const anEmail = ["to", "subject", "html", "text", "signatureId", "force", "sendAt"];
const anEvent = ["name", "id", "contact", "properties", "contactFields", "occurredAt", "createContact"];
const aPage = ["skip", "limit"];

/** An object that a caller gives. */
export interface Place {
  readonly id: string;
  readonly where: string;
  /** The document's fields, typed by hand. */
  readonly fields: readonly string[];
  /** A valid input, with more fields at the place. */
  readonly withFields: (more: object) => unknown;
}

const anEventOf = { name: "x", contact: { id: "1" } };

/** Every object that a caller gives, and whose fields the document names. */
export const places: readonly Place[] = [
  { id: "contacts.create", where: "", fields: aContact, withFields: (more) => ({ email: address, ...more }) },
  { id: "contacts.list", where: "", fields: ["search", ...aPage], withFields: (more) => more },
  { id: "contacts.update", where: "", fields: aContact, withFields: (more) => more },
  {
    ...{ id: "companies.create", where: "", fields: ["companyName", "domain", "industry", "contacts"] },
    withFields: (more) => ({ companyName: "Acme", ...more }),
  },
  {
    ...{ id: "companies.create", where: "contacts[0].", fields: ["email", "name", "title"] },
    withFields: (more) => ({ contacts: [{ email: address, ...more }] }),
  },
  {
    ...{ id: "companies.update", where: "", fields: ["companyName", "domain", "industry"] },
    withFields: (more) => more,
  },
  {
    ...{ id: "companies.findByDomain", where: "", fields: ["domain"] },
    withFields: (more) => ({ domain: "acme.com", ...more }),
  },
  { id: "lists.create", where: "", fields: ["name"], withFields: (more) => ({ name: "x", ...more }) },
  {
    ...{ id: "lists.addContacts", where: "", fields: ["emails"] },
    withFields: (more) => ({ emails: [address], ...more }),
  },
  {
    ...{ id: "lists.removeContacts", where: "", fields: ["emails"] },
    withFields: (more) => ({ emails: [address], ...more }),
  },
  { id: "events.record", where: "", fields: anEvent, withFields: (more) => ({ ...anEventOf, ...more }) },
  {
    ...{ id: "events.record", where: "contact.", fields: ["email", "externalId", "id"] },
    withFields: (more) => ({ name: "x", contact: { id: "1", ...more } }),
  },
  {
    ...{ id: "events.recordBatch", where: "events[0].", fields: anEvent },
    withFields: (more) => ({ events: [{ ...anEventOf, ...more }] }),
  },
  {
    ...{ id: "events.recordBatch", where: "", fields: ["events"] },
    withFields: (more) => ({ events: [anEventOf], ...more }),
  },
  {
    ...{ id: "emails.send", where: "", fields: [...anEmail, "once"] },
    withFields: (more) => ({ to: address, subject: "Hi", text: "x", ...more }),
  },
  {
    ...{ id: "emails.schedule", where: "", fields: [...anEmail, "once"] },
    withFields: (more) => ({ to: address, subject: "Hi", html: "x", sendAt: new Date(0), ...more }),
  },
  { id: "emails.scheduled.list", where: "", fields: aPage, withFields: (more) => more },
  { id: "emails.scheduled.update", where: "", fields: anEmail, withFields: (more) => more },
];
