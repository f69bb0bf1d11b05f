import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { issuesOf } from "../../src/service/check.ts";
import { operations } from "../../src/service/operations.ts";

// The same inputs in every build; PROPERTY_SEED looks at others.
const run = {
  seed: Number(process.env.PROPERTY_SEED ?? 1),
  numRuns: Number(process.env.PROPERTY_RUNS ?? 200),
};

const email = "ada@example.com";
const aContact = [
  ...["email", "name", "title", "phone", "linkedIn", "notes", "stage", "source", "verified"],
  ...["emailConfidence", "customFields", "leadId", "listIds"],
];
const anEmail = ["to", "subject", "html", "text", "signatureId", "force", "sendAt"];
const anEvent = ["name", "id", "contact", "properties", "contactFields", "occurredAt", "createContact"];
const aPage = ["skip", "limit"];

interface Place {
  readonly id: string;
  readonly where: string;
  /** The document's fields, typed by hand. */
  readonly fields: readonly string[];
  /** A valid input, with more fields at the place. */
  readonly withFields: (more: object) => unknown;
}

const event = { name: "x", contact: { id: "1" } };

/** Every object that a caller gives, and whose fields the document names. */
const places: readonly Place[] = [
  { id: "contacts.create", where: "", fields: aContact, withFields: (more) => ({ email, ...more }) },
  { id: "contacts.list", where: "", fields: ["search", ...aPage], withFields: (more) => more },
  { id: "contacts.update", where: "", fields: aContact, withFields: (more) => more },
  {
    ...{ id: "companies.create", where: "", fields: ["companyName", "domain", "industry", "contacts"] },
    withFields: (more) => ({ companyName: "Acme", ...more }),
  },
  {
    ...{ id: "companies.create", where: "contacts[0].", fields: ["email", "name", "title"] },
    withFields: (more) => ({ contacts: [{ email, ...more }] }),
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
    withFields: (more) => ({ emails: [email], ...more }),
  },
  {
    ...{ id: "lists.removeContacts", where: "", fields: ["emails"] },
    withFields: (more) => ({ emails: [email], ...more }),
  },
  { id: "events.record", where: "", fields: anEvent, withFields: (more) => ({ ...event, ...more }) },
  {
    ...{ id: "events.record", where: "contact.", fields: ["email", "externalId", "id"] },
    withFields: (more) => ({ name: "x", contact: { id: "1", ...more } }),
  },
  {
    ...{ id: "events.recordBatch", where: "events[0].", fields: anEvent },
    withFields: (more) => ({ events: [{ ...event, ...more }] }),
  },
  {
    ...{ id: "events.recordBatch", where: "", fields: ["events"] },
    withFields: (more) => ({ events: [event], ...more }),
  },
  {
    ...{ id: "emails.send", where: "", fields: [...anEmail, "once"] },
    withFields: (more) => ({ to: email, subject: "Hi", text: "x", ...more }),
  },
  {
    ...{ id: "emails.schedule", where: "", fields: [...anEmail, "once"] },
    withFields: (more) => ({ to: email, subject: "Hi", html: "x", sendAt: new Date(0), ...more }),
  },
  { id: "emails.scheduled.list", where: "", fields: aPage, withFields: (more) => more },
  { id: "emails.scheduled.update", where: "", fields: anEmail, withFields: (more) => more },
];

const inputs = new Map(
  Object.values(operations).flatMap((resource) =>
    Object.values(resource).map(({ id, input }) => [id, input]),
  ),
);

const issues = ({ id, withFields }: Place, more: object) => {
  const input = inputs.get(id);
  if (input === undefined) throw new Error(`no operation ${id}`);
  return issuesOf(input, withFields(more));
};

const letters = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

test("every operation that takes fields is looked at", () => {
  const taking = [...inputs].filter(([, input]) => issuesOf(input, undefined).length > 0).map(([id]) => id);
  expect([...new Set(places.map(({ id }) => id))].sort()).toEqual(taking.sort());
});

describe.each(places)("$id $where", (place) => {
  // Short names of few letters come close to a field.
  const name = fc.oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(..."aeimnost"), minLength: 1, maxLength: 6 }),
    fc.constantFrom("tag", "tags", "type", "url", "ids", "state", "cc", "from", "sortBy", "property"),
  );

  test("an unknown field that is no spelling of any of the document's goes out", () => {
    const unlike = name.filter((one) => place.fields.every((field) => letters(one) !== letters(field)));
    fc.assert(
      fc.property(unlike, fc.string(), (one, value) => {
        expect(issues(place, Object.fromEntries([[one, value]]))).toEqual([]);
      }),
      run,
    );
  });
});

const missingIn = ({ fields, withFields }: Place): readonly string[] => {
  const given = JSON.stringify(withFields({}));
  return fields.filter((field) => field.length > 3 && !given.includes(`"${field}":`));
};

describe.each(places.filter((place) => missingIn(place).length > 0))("$id $where", (place) => {
  test("another spelling of a missing field is told, and beside the field it goes out", () => {
    const slip = fc.constantFrom(...missingIn(place)).chain((field) =>
      fc
        .tuple(fc.nat(field.length), fc.constantFrom("_", "-", "__"), fc.boolean())
        .map(([at, sign, isUpper]) => {
          const spelt = `${field.slice(0, at)}${sign}${field.slice(at)}`;
          return { field, misspelt: isUpper ? spelt.toUpperCase() : spelt };
        }),
    );
    fc.assert(
      fc.property(slip, ({ field, misspelt }) => {
        expect(issues(place, { [misspelt]: "x" })).toContainEqual({
          path: `${place.where}${misspelt}`,
          message: `there is no such field; is "${field}" meant?`,
        });
        const beside = issues(place, { [misspelt]: "x", [field]: "x" });
        expect(beside.filter(({ message }) => message.startsWith("there is no"))).toEqual([]);
      }),
      run,
    );
  });
});
