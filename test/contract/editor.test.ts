import { describe, expect, test } from "vitest";
import { editor } from "../support/editor.ts";

const program = (line: string): string => `
  import * as z from "zod";
  import { Client } from "touchpoint-sdk";
  const client = new Client();
  const typed = new Client({
    customFields: z.object({ plan: z.enum(["free", "pro"]) }),
    events: { "order.placed": z.object({ total: z.number() }) },
  });
  const contact = { email: "ada@example.com" };
  ${line};
`;

const wrong: readonly (readonly [line: string, message: string])[] = [
  [
    `client.contacts.create({ ...contact, nmae: "Ada" })`,
    "Object literal may only specify known properties, and 'nmae' does not exist in type 'ContactInput'.",
  ],
  [
    `client.contacts.create({ name: "Ada" })`,
    "Argument of type '{ name: string; }' is not assignable to parameter of type 'ContactInput'.",
  ],
  [`client.contacts.update("id", { listIds: "l1" })`, "Type 'string' is not assignable to type 'string[]'."],
  [
    `client.emails.send({ subject: "Hi", text: "Hello" })`,
    "Argument of type '{ subject: string; text: string; }' is not assignable to parameter of type 'EmailInput'.",
  ],
  [
    `client.emails.send({ to: "ada@example.com", html: "<p>", text: "Hello", subject: "Hi" })`,
    "Argument of type '{ to: string; html: string; text: string; subject: string; }' is not assignable to parameter of type 'EmailInput'.",
  ],
  [
    `client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hello", sendAt: "2026-03-02T09:00:00Z" })`,
    "Type '\"2026-03-02T09:00:00Z\"' is not assignable to type '\"Not here: emails.schedule sends later.\"'.",
  ],
  [
    `client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hello", once: "welcome:42" })`,
    "Type '\"welcome:42\"' is not assignable to type '\"Not here: pass { once } as the second argument.\"'.",
  ],
  [
    `client.emails.schedule({ to: "ada@example.com", subject: "Hi", text: "Hello" })`,
    "Argument of type '{ to: string; subject: string; text: string; }' is not assignable to parameter of type 'ScheduledEmailInput'.",
  ],
  [
    `typed.events.record({ name: "order.plced", contact, properties: { total: 9 } })`,
    `Type '"order.plced"' is not assignable to type '"order.placed"'.`,
  ],
  [
    `typed.events.record({ name: "order.placed", contact, properties: { total: "9" } })`,
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    `typed.contacts.create({ ...contact, customFields: { plan: "gold" } })`,
    `Type '"gold"' is not assignable to type '"free" | "pro"'.`,
  ],
  [`client.events.record({ name: "a", contact: {} })`, "Type '{}' is not assignable to type 'EventContact'."],
  [
    `client.events.record({ name: "service.sent", contact })`,
    "Type '\"service.sent\"' is not assignable to type '\"Names that start with service. are for events of the service itself.\"'.",
  ],
  [
    `client.events.record({ name: "a", contact, properties: { password: "x" } })`,
    "Type '\"x\"' is not assignable to type '\"The service refuses an event with this property.\"'.",
  ],
  [
    `client.contacts.create({ ...contact, customFields: new Date() })`,
    "Type 'Date' is not assignable to type 'FreeFields | undefined'.",
  ],
];

const right = [
  "interface Fields { plan: string }; const fields: Fields = { plan: 'pro' }; client.contacts.create({ ...contact, customFields: fields })",
  "const input: import('touchpoint-sdk').ContactInput = { ...contact, customFields: { plan: null } }; client.contacts.upsert(input)",
  "const email: import('touchpoint-sdk').EmailInput = { to: '', subject: '', text: '' }; client.emails.send(email, { once: 'k' })",
];

const helpers = /KnownFields|Omit<|Pick<|z\.infer|ShapeOf|Prettify/;

const records = ["EmailInput", "ScheduledEmailInput"];

const interfaces = [
  ["ContactInput", "listIds?: string[]"],
  ["ContactPatch", "notes?: string"],
  ["ContactQuery", "search?: string"],
  ["CompanyInput", "contacts?: CompanyPerson[]"],
  ["CompanyPatch", "domain?: string"],
  ["ListInput", "name: string"],
  ["EventInput", "name: string"],
  ["EmailFields", "signatureId?: string"],
  ["ScheduledEmailPatch", "subject?: string"],
  ["Contact", "customFields: {"],
  ["Company", "companyName?: string"],
  ["CompanyCreated", "contactIds?: string[]"],
  ["List", "name: string"],
  ["EventReceipt", "runsStarted: number"],
  ["ScheduledEmail", "sendAt: string"],
  ["SentEmail", "cc: unknown[]"],
] as const;

const hovered = (name: string): string => `type Shown = import("touchpoint-sdk")./*here*/${name}`;

const signatures = [
  [
    "client.contacts./*here*/create(contact)",
    "create(input: ContactInput, options?: CallOptions): ApiPromise<Contact>",
  ],
  [
    "client.contacts./*here*/list()",
    "list(query?: ContactQuery, options?: CallOptions & PagingOptions): Paged<Contact>",
  ],
  [
    "client.companies./*here*/create({})",
    "create(input: CompanyInput, options?: CallOptions): ApiPromise<CompanyCreated>",
  ],
  ["client.events./*here*/recordBatch([])", "): ApiPromise<BatchReport>"],
  ["const /*here*/page = await client.contacts.list()", "const page: Page<Contact>"],
] as const;

const meanings = [
  ["client.contacts.create({ /*here*/email: '' })", "unique per workspace"],
  [
    "client.contacts.update('id', { /*here*/listIds: [] })",
    "The ids of all lists of the contact; they replace the current ones",
  ],
  ["client.emails.schedule({ to: '', subject: '', text: '', /*here*/sendAt: '' })", "When to send it"],
  ["client.events.record({ name: 'a', contact, /*here*/occurredAt: '' })", "The time of the event"],
  ["(await client.contacts.create(contact))./*here*/stage", "Upper case"],
] as const;

const hovers = [
  ...records.map(hovered),
  ...interfaces.map(([name]) => hovered(name)),
  ...signatures.map(([line]) => line),
  ...meanings.map(([line]) => line),
].map(program);
const calls = [...right, ...wrong.map(([line]) => line)].map(program);
// As this repository is set, so that hovers and errors come of one check of the sources.
const exact = editor([...calls, ...hovers]);

describe.each([
  [true, exact],
  [false, editor(calls, { exactOptionalPropertyTypes: false })],
])("with exactOptionalPropertyTypes %j", (_, opened) => {
  test.each(wrong)("%s says in one line what is wrong", (line, message) => {
    expect(opened(program(line)).errors).toEqual([message]);
  });

  test.each(right)("%s has no error", (line) => {
    expect(opened(program(line)).errors).toEqual([]);
  });
});

describe("hovers", () => {
  test.each(records)("%s shows its fields, through no helper type, and what it is", (name) => {
    const { text, docs } = exact(program(hovered(name))).hover("/*here*/");
    expect(text).toContain(`type ${name} = EmailFields & `);
    expect(text).not.toMatch(helpers);
    expect(docs).toMatch(/^[A-Z].+\./s);
  });

  test.each(interfaces)("%s, expanded, shows its fields, and what it is", (name, field) => {
    const { text, docs } = exact(program(hovered(name))).hover("/*here*/", { isExpanded: true });
    expect(text).toMatch(new RegExp(`interface ${name} (extends EventFields )?\\{`));
    expect(text).toContain(field);
    expect(docs).toMatch(/^[A-Z].+\./s);
  });

  test.each(signatures)("%s names its types: %s", (line, signature) => {
    const { text } = exact(program(line)).hover("/*here*/");
    expect(text).toContain(signature);
  });

  test("the input of contacts.create, expanded, names its fields", () => {
    const [[line]] = signatures;
    const { text } = exact(program(line)).hover("/*here*/", { isExpanded: true });
    for (const field of ["email: string", "customFields?: ", "listIds?: string[]", "leadId?: string"])
      expect(text).toContain(field);
    expect(text).not.toMatch(helpers);
  });

  test.each(meanings)("the hover of %s describes the field", (line, meaning) => {
    expect(exact(program(line)).hover("/*here*/").docs).toContain(meaning);
  });
});
