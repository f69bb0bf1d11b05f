import fc from "fast-check";
import { start } from "../unit/sandbox/client.ts";
import { known } from "./properties-world.ts";

type Fields<T> = { [K in keyof T]: fc.Arbitrary<T[K]> };

/** Objects whose fields may each be left out, or be given as undefined; those named are always there. */
const fields = <T>(model: Fields<T>, ...required: (keyof T)[]) => {
  const optional = Object.fromEntries(
    Object.entries<fc.Arbitrary<unknown>>(model).map(([name, value]) => [
      name,
      required.some((field) => field === name) ? value : fc.option(value, { nil: undefined }),
    ]),
  );
  return fc.record(optional, { requiredKeys: required.map(String) });
};

const unicode = fc.string({ unit: "binary", maxLength: 20 });
const text = fc.oneof(unicode, fc.string({ unit: "grapheme" })).filter((value) => value.trim() !== "");
const wellFormed = unicode.filter((value) => value.isWellFormed());

/** Addresses that no service refuses. */
const address = fc.oneof(
  fc.emailAddress(),
  fc.constantFrom("ada@example.com", "Ada@Example.com", "o'brien+x@ex-ample.org", "ärger@exämple.de"),
);

const number = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  // JSON knows no -0.
  .map((value) => value + 0);

/** A moment that the service has behind it, as a Date or written with a zone. */
const past = fc
  .date({ min: new Date("2026-02-27T00:00:00Z"), max: new Date(start), noInvalidDate: true })
  .chain((date) =>
    fc.constantFrom<Date | string>(date, date.toISOString(), `${date.toISOString().slice(0, 19)}+00:00`),
  );
const future = fc
  .date({ min: new Date(start + 1_000), max: new Date("2030-01-01T00:00:00Z"), noInvalidDate: true })
  .chain((date) =>
    fc.constantFrom<Date | string>(date, date.toISOString(), `${date.toISOString().slice(0, 19)}-02:00`),
  );

// What a service may take for a secret is another property's concern.
const key = fc.string({ maxLength: 12 }).filter((name) => !/pass|pwd|card|cv|ssn|social/i.test(name));
const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    number,
    fc.boolean(),
    fc.constant(null),
    past,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, fc.option(tie("value"), { nil: undefined }), { maxKeys: 3 }),
  ),
})).value;
const record = fc.dictionary(key, fc.option(plain, { nil: undefined }), { maxKeys: 5 });

const writable = {
  name: unicode,
  title: unicode,
  phone: unicode,
  linkedIn: fc.webUrl(),
  notes: fc.option(unicode),
  stage: fc.oneof(fc.constantFrom("REPLIED", "DEAD"), text),
  source: fc.oneof(fc.constant("MANUAL"), text),
  verified: fc.boolean(),
  emailConfidence: number,
  customFields: record,
  leadId: fc.constant(known.company),
  listIds: fc.subarray([known.list]),
};

/** A new contact. */
export const contactInput = fields({ email: address, ...writable }, "email");
export const contactPatch = fields({ email: address, ...writable });
export const contactQuery = fields({
  search: wellFormed,
  skip: fc.nat(),
  limit: fc.integer({ min: 1, max: 200 }),
});

const person = fields({ email: address, name: text, title: text }, "email");
const company = { companyName: text, domain: text, industry: text };
export const companyInput = fields({ ...company, contacts: fc.array(person, { maxLength: 3 }) }).filter(
  (input) => Object.values(input).some((value) => value !== undefined),
);
export const companyPatch = fields(company);
/** What a query can carry. */
export const domain = wellFormed.filter((value) => value.trim() !== "");

export const listInput = fields({ name: text }, "name");
export const addresses = fc.uniqueArray(address, {
  minLength: 1,
  maxLength: 20,
  selector: (email) => email.toLowerCase(),
});

/** An event of one person: identifiers of two people clash. */
export const eventInput = fields(
  {
    name: text.filter((name) => !name.startsWith("service.")),
    id: text,
    contact: fc.oneof(
      fc.record({ email: address }),
      fc.record({ externalId: text }),
      fc.record({ id: fc.constant(known.contact) }),
    ),
    properties: record,
    contactFields: fields({ name: unicode, stage: text, customFields: record }),
    occurredAt: past,
    createContact: fc.boolean(),
  },
  "name",
  "contact",
);
export const eventBatch = fc.array(eventInput, { minLength: 1, maxLength: 100 });

const email = { to: address, subject: text, signatureId: fc.constant("default"), force: fc.boolean() };
const withBody = (model: typeof email & { sendAt?: fc.Arbitrary<Date | string> }) => {
  const required = ["to", "subject", ...("sendAt" in model ? ["sendAt"] : [])];
  const one = (name: "html" | "text") =>
    fields<Record<string, unknown>>({ ...model, [name]: text }, ...required, name);
  return fc.oneof(one("html"), one("text"));
};
export const emailInput = withBody(email);
export const scheduledEmailInput = withBody({ ...email, sendAt: future });
export const scheduledEmailPatch = fc.oneof(
  fields({ ...email, html: text, sendAt: future }),
  fields({ ...email, text, sendAt: future }),
);
export const pagingQuery = fields({ skip: fc.nat(), limit: fc.integer({ min: 1, max: 200 }) });

/** An id that a path may carry, however odd. */
export const id = fc
  .oneof(
    unicode,
    fc.string({ unit: fc.constantFrom("/", ".", "%", "2", "e", "?", "#", " ", "\\", ":", "é", "😀", "\0") }),
    fc.constantFrom(
      "...",
      "%2e%2e",
      "a/../b",
      "a%2Fb",
      "?limit=1",
      "#x",
      "é😀",
      ":id",
      "$&",
      "a".repeat(1_024),
    ),
  )
  .filter((value) => value !== "" && value !== "." && value !== ".." && value.isWellFormed());
