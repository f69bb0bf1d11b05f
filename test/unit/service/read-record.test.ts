import { expect, test } from "vitest";
import type { ValidationNotice } from "../../../src/options/hooks.ts";
import { readRecord } from "../../../src/service/common.ts";
import { type Served, served } from "../resources/served.ts";

const ada = { id: "c-1", email: "ada@example.com", data: { own: 1 }, contact: { own: 2 }, customFields: {} };
const { data: _own, contact: _own2, ...plain } = ada;

test("a contact in its documented shape comes as it is, whatever its own fields are called", async () => {
  const { client } = served([
    [201, ada],
    [200, ada],
    [200, { data: [ada], total: 1, skip: 0, limit: 50, more: [1] }],
  ]);
  expect(await client.contacts.create({ email: ada.email })).toEqual(ada);
  expect(await client.contacts.update("c-1", {})).toEqual(ada);
  expect(await client.contacts.list()).toEqual({ data: [ada], total: 1, skip: 0, limit: 50, more: [1] });
});

test.each([
  ["data", { data: plain }],
  ["contact", { contact: plain }],
  ["another name", { ...plain, id: undefined, contactId: "c-1" }],
])("a contact, which the document shows, is not looked for under %s", async (_where, body) => {
  const issues: string[] = [];
  const hooks = {
    onValidationIssue: (notice: ValidationNotice) => void issues.push(notice.issues[0]?.path ?? ""),
  };
  const { client } = served([[201, body]], { hooks });
  expect(await client.contacts.create({ email: plain.email })).toEqual(body);
  expect(issues).toEqual(["id"]);
});

test.each([
  ["a bare array", [plain]],
  ["items", { items: [plain], total: 1 }],
  ["an envelope", { data: { contacts: [plain] }, pagination: { total: 1 } }],
])("a page of contacts in %s is refused in strict mode", async (_shape, body) => {
  const { client } = served([[200, body]], { responseValidation: "strict" });
  await expect(client.contacts.list()).rejects.toMatchObject({ code: "response_invalid" });
});

test("a page that repeats nothing of its request is filled in from it", async () => {
  const { client } = served([
    [200, { data: [ada], total: 9 }],
    [200, { data: [ada], total: 9, skip: null }],
  ]);
  expect(await client.contacts.list()).toMatchObject({ skip: 0, limit: 50 });
  expect(await client.contacts.list({ skip: 8, limit: 1 })).toMatchObject({ skip: 8, limit: 1 });
});

test("a receipt that says nothing of a duplicate is of none", async () => {
  const { client } = served([
    [202, { id: "e-1" }],
    [202, { id: "e-1", duplicate: true }],
  ]);
  const event = { name: "x", contact: { id: "c-1" } };
  const duplicates = [await client.events.record(event), await client.events.record(event)].map(
    ({ duplicate }) => duplicate,
  );
  expect(duplicates).toEqual([false, true]);
});

const pastExact = 2 ** 53 + 2;

test.each([pastExact, -(2 ** 53), 1.5, 1e300])("an id written as the number %d is no id", async (id) => {
  const contact = { ...ada, id };
  const script: Served[] = [
    [200, contact],
    [200, { data: [contact], total: 1, skip: 0, limit: 50 }],
    [207, { accepted: 1, rejected: 0, results: [{ status: 202, id }] }],
    [201, { companyId: id, contactIds: [] }],
    [201, { companyId: "1", contacts: [{ contactId: id }] }],
    [201, { company: id }],
  ];
  const paths: string[][] = [];
  const hooks = {
    onValidationIssue: ({ issues }: ValidationNotice) => void paths.push(issues.map(({ path }) => path)),
  };
  const { client } = served(script, { hooks });
  expect(await client.contacts.update("c-1", {})).toMatchObject({ id });
  await client.contacts.list();
  await client.events.recordBatch([{ name: "x", contact: { id: "c-1" } }]);
  await client.companies.create({ companyName: "x" });
  await client.companies.create({ companyName: "x" });
  await client.companies.create({ companyName: "x" });
  const wanted = ["id", "data[0].id", "results[0].id", "id", "contactIds[0]", "id"];
  expect(paths.map((found, at) => found.includes(wanted[at] ?? ""))).toEqual(wanted.map(() => true));
});

test("an id that is no exact number fails in strict mode, and changes nobody else by mistake", async () => {
  const body = `{"id":9007199254740993,"email":"ada@example.com"}`;
  const answered = () => Promise.resolve(new Response(body));
  const strict = served([answered], { responseValidation: "strict" });
  await expect(strict.client.contacts.update("c-1", {})).rejects.toMatchObject({
    code: "response_invalid",
    outcome: "unknown",
  });
  const page = { data: [{ id: pastExact, email: "ada@example.com" }], total: 1 };
  const { client, requests } = served([
    [409, { error: "taken" }],
    [200, page],
  ]);
  const input = { email: "ada@example.com", name: "Ada" };
  await expect(client.contacts.upsert(input)).rejects.toMatchObject({ code: "input_invalid" });
  expect(requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
});

test("an upsert finds its way where ids are numbers", async () => {
  const { client, requests } = served([
    [409, { error: "taken" }],
    [200, { data: [{ id: 7, email: "ada@example.com" }], total: 1 }],
    [200, { id: 7, email: "ada@example.com", name: "Ada" }],
  ]);
  const { contact } = await client.contacts.upsert({ email: "ada@example.com", name: "Ada" });
  expect([contact.id, requests[2]?.path]).toEqual(["7", "/api/v1/contacts/7"]);
});

test("the only company of a domain is found with its people, however many they are", async () => {
  const company = { id: "co-1", companyName: "Engines", domain: "engines.example" };
  for (const people of [[], [{ id: "c-1", email: "ada@engines.example" }], [{ id: "c-1" }, { id: "c-2" }]]) {
    for (const body of [{ ...company, contacts: people }, { company: { ...company, contacts: people } }]) {
      const { client } = served([[200, body]]);
      expect(await client.companies.findByDomain("engines.example")).toEqual({
        ...company,
        contacts: people,
      });
    }
  }
});

test.each([
  ["ids of people as numbers", { companyId: 1, contacts: [2, 3] }],
  ["the ids alone", { company: "1", contacts: ["2", "3"] }],
  ["records without an id of that name", { lead: { id: 1 }, contacts: [{ contactId: 2 }, { id: "3" }] }],
])("the ids of a new company are read from %s", async (_shape, body) => {
  const { client } = served([[200, body]]);
  const created = await client.companies.create({ companyName: "x" });
  expect(created).toMatchObject({ id: "1", contactIds: ["2", "3"] });
});

test("records and pages are read from under `result`", async () => {
  const { client } = served([
    [201, { result: { id: "l-1", name: "Readers" } }],
    [200, { result: { companies: [{ id: "1", domain: "x.example" }] } }],
  ]);
  expect(await client.lists.create({ name: "Readers" })).toMatchObject({ id: "l-1" });
  expect(await client.companies.findByDomain("x.example")).toMatchObject({ id: "1" });
});

test("numbers that name a contact, a company or lists become strings", async () => {
  const { client } = served([
    [200, { ...ada, id: 1, leadId: 2, listIds: [3, "l-4"] }],
    [200, { data: [{ ...ada, leadId: 2 }, ada], total: 2 }],
    [202, { id: 5, name: "a", contactId: 6, outcome: "PROCESSED" }],
    [200, { id: 7, contactId: 8 }],
    [207, { accepted: 1, rejected: 0, results: [{ status: 202, id: 9, contactId: 10 }] }],
  ]);
  const event = { name: "a", contact: { id: "c-1" } };
  expect(await client.contacts.update("c-1", {})).toEqual({
    ...ada,
    id: "1",
    leadId: "2",
    listIds: ["3", "l-4"],
  });
  expect(await client.contacts.list()).toEqual({
    data: [{ ...ada, leadId: "2" }, ada],
    total: 2,
    skip: 0,
    limit: 50,
  });
  expect(await client.events.record(event)).toMatchObject({ id: "5", contactId: "6" });
  const sent = await client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hello" });
  expect(sent).toEqual({ id: "7", contactId: "8" });
  const { results } = await client.events.recordBatch([event]);
  expect(results).toMatchObject([{ id: "9", contactId: "10" }]);
});

test("a record whose ids are strings is not copied", () => {
  const record = { id: "c-1", leadId: "l-1", listIds: ["a", "b"], contactId: null };
  expect(readRecord(record)).toBe(record);
});

test("a change of a scheduled email may be answered without a body", async () => {
  const { client } = served([[204]]);
  expect(await client.emails.scheduled.update("s-1", { subject: "Hi" })).toEqual({ id: "s-1" });
});

const withoutRecord: readonly (readonly [string, unknown])[] = [
  ["an empty body", undefined],
  ["null", null],
  ["an object of another kind", { success: true }],
];

test.each(withoutRecord)(
  "a change of a contact that is answered with %s has succeeded",
  async (_what, body) => {
    const { client, requests } = served([[200, body], [409], [200, { data: [ada], total: 1 }], [200, body]]);
    expect(await client.contacts.update("c-1", { name: "Ada" })).toMatchObject({ id: "c-1" });
    const { contact, created } = await client.contacts.upsert({ email: ada.email, name: "Ada" });
    expect([contact.id, created]).toEqual([ada.id, false]);
    expect(requests).toHaveLength(4);
  },
);

test("a change of a contact that is answered without it is reported, and an error under strict", async () => {
  const found: string[][] = [];
  const onValidationIssue = ({ issues }: { issues: readonly { path: string }[] }) =>
    void found.push(issues.map(({ path }) => path));
  const { client } = served([[204]], { hooks: { onValidationIssue } });
  await client.contacts.update("c-1", { name: "Ada" });
  expect(found).toEqual([expect.arrayContaining(["email", "stage", "updatedAt"])]);
  const strict = served([[204]], { responseValidation: "strict" });
  await expect(strict.client.contacts.update("c-1", {})).rejects.toMatchObject({ code: "response_invalid" });
});

test.each([null, 0, "ok", true, [[]]])(
  "a success that is %j in place of a record is an error",
  async (body) => {
    const answers: [number, unknown][] = Array.from({ length: 4 }, () => [200, body]);
    for (const responseValidation of ["off", "warn"] as const) {
      const { client } = served(answers, { responseValidation });
      const unread = { code: "response_invalid", status: 200, attempts: 1 };
      await expect(client.contacts.create({ email: "ada@example.com" })).rejects.toMatchObject({
        ...unread,
        outcome: "unknown",
      });
      await expect(
        client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hello" }),
      ).rejects.toMatchObject({
        ...unread,
        message: "emails.send: the service responded with 200, but its JSON is not a record",
        outcome: "unknown",
      });
      expect(await client.request({ method: "GET", path: "/api/v1/anything" })).toEqual(body);
    }
  },
);
