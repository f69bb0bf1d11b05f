import { expect, test } from "vitest";
import { readBatch, readContact } from "../../../src/service/response-shapes.ts";
import { served } from "../resources/served.ts";

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
  ["both", { data: { contact: plain } }],
  ["a number for an id", { ...plain, id: 1 }],
  ["contactId", { ...plain, id: undefined, contactId: "c-1" }],
])("a contact is read from %s", async (_shape, body) => {
  const { client } = served([
    [201, body],
    [200, body],
  ]);
  const expected = { ...plain, id: expect.stringMatching(/^(c-)?1$/) };
  expect(await client.contacts.create({ email: plain.email })).toMatchObject(expected);
  expect(await client.contacts.update("c-1", {})).toMatchObject(expected);
});

test.each([
  ["a bare array", [plain], undefined],
  ["contacts", { contacts: [plain], total: 1 }, 1],
  ["items", { items: [plain], total: 1 }, 1],
  ["data and meta", { data: [plain], meta: { total: 1 } }, 1],
  ["an envelope", { data: { contacts: [plain] }, pagination: { total: 1 } }, 1],
  ["a list beside an empty one", { warnings: [], people: [plain], total: 1 }, 1],
  ["numbers for ids", { data: [{ ...plain, id: 1 }], total: 1 }, 1],
])("a page of contacts is read from %s", async (_shape, body, total) => {
  const { client } = served([[200, body]]);
  const page = await client.contacts.list();
  expect(page.data).toMatchObject([{ ...plain, id: expect.stringMatching(/^(c-)?1$/) }]);
  expect(page.total).toBe(total);
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
    [200, { result: { items: [plain], total: 1 } }],
  ]);
  expect(await client.lists.create({ name: "Readers" })).toMatchObject({ id: "l-1" });
  expect(await client.companies.findByDomain("x.example")).toMatchObject({ id: "1" });
  expect(await client.contacts.list()).toMatchObject({ data: [plain], total: 1 });
});

test("a receipt is read from an envelope", async () => {
  const receipt = { id: "e-1", name: "x", outcome: "PROCESSED" };
  const sent = { id: "m-1", to: "ada@example.com" };
  const { client } = served([
    [202, { event: receipt }],
    [200, { data: sent }],
    [200, { email: "ada@example.com", message: "Sent.", messageId: "m-1" }],
  ]);
  const email = { to: "ada@example.com", subject: "Hi", text: "Hello" };
  expect(await client.events.record({ name: "x", contact: { id: "c-1" } })).toEqual(receipt);
  expect(await client.emails.send(email)).toEqual(sent);
  expect(await client.emails.send(email)).toMatchObject({ id: "m-1" });
});

test.each([
  ["an envelope", { data: { accepted: 1, rejected: 0, results: [{ status: 202, id: "e-1" }] } }],
  ["a bare array", [{ status: 202, id: "e-1" }]],
  ["items", { accepted: 1, items: [{ status: 202, id: "e-1" }] }],
  ["data", { data: [{ status: 202, id: "e-1" }] }],
  ["a result with events", { result: { events: [{ status: 202, id: "e-1" }] } }],
  ["results beside errors", { errors: [], results: [{ status: 202, id: "e-1" }] }],
])("the results of a batch are read from %s", async (_shape, body) => {
  const { client } = served([[207, body]]);
  const { accepted } = await client.events.recordBatch([{ id: "e-1", name: "x", contact: { id: "c-1" } }]);
  expect(accepted).toBe(1);
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
  expect(await client.contacts.list()).toEqual({ data: [{ ...ada, leadId: "2" }, ada], total: 2 });
  expect(await client.events.record(event)).toMatchObject({ id: "5", contactId: "6" });
  const sent = await client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hello" });
  expect(sent).toEqual({ id: "7", contactId: "8" });
  const { results } = await client.events.recordBatch([event]);
  expect(results).toMatchObject([{ id: "9", contactId: "10" }]);
});

test("a record whose ids are strings is not copied", () => {
  const record = { id: "c-1", leadId: "l-1", listIds: ["a", "b"], contactId: null };
  expect(readContact(record)).toBe(record);
  const batch = { accepted: 1, rejected: 0, results: [{ id: "e-1" }] };
  expect(readBatch(batch)).toBe(batch);
});

test("a change of a scheduled email may be answered without a body", async () => {
  const { client } = served([[204]]);
  expect(await client.emails.scheduled.update("s-1", { subject: "Hi" })).toEqual({ id: "s-1" });
});

test.each([null, 0, "ok", true])("a success that is %j in place of a record is an error", async (body) => {
  const answers: [number, unknown][] = Array.from({ length: 4 }, () => [200, body]);
  for (const responseValidation of ["off", "warn"] as const) {
    const { client } = served(answers, { responseValidation });
    const unread = { code: "response_invalid", status: 200, attempts: 1 };
    await expect(client.contacts.update("c-1", {})).rejects.toMatchObject({ ...unread, outcome: "unknown" });
    await expect(
      client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hello" }),
    ).rejects.toMatchObject({
      ...unread,
      message: "emails.send: the service answered 200 with JSON that holds no record",
      outcome: "unknown",
    });
    expect(await client.request({ method: "GET", path: "/api/v1/anything" })).toEqual(body);
  }
});
