import { expect, test } from "vitest";
import { Client, type Contact, mockResponse, type Page } from "../../../src/index.ts";

const contact: Contact = {
  id: "c1",
  email: "ada@example.com",
  stage: "LEAD",
  source: "API",
  verified: true,
  customFields: {},
  listIds: [],
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
};

test("a mocked list answers its page, and every record where it is iterated", async () => {
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost" });
  const page: Page<Contact> = { data: [contact, { ...contact, id: "c2" }], total: 2, skip: 0, limit: 50 };
  client.contacts.list = () => mockResponse(page, { waitedMs: 5 });
  const list = client.contacts.list();
  expect(await list).toBe(page);
  expect((await list.withResponse()).response.waitedMs).toBe(5);
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  for await (const { data, drift } of list.pages()) ids.push(`${data.length} ${drift}`);
  expect(ids).toEqual(["c1", "c2", "2 0"]);
  expect(await list.toArray()).toEqual(page.data);
  expect(await list.toArray({ max: 1 }).withResponse()).toMatchObject({
    data: [contact],
    response: { waitedMs: 5 },
  });
});

test("a mocked method answers like the method itself", async () => {
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost" });
  client.companies.findByDomain = () => mockResponse(null, { status: 404, attempts: 2 });
  expect(await client.companies.findByDomain("engines.example")).toBeNull();
  expect(await client.companies.findByDomain("engines.example").withResponse()).toEqual({
    data: null,
    response: { status: 404, headers: new Headers(), attempts: 2, waitedMs: 0 },
  });
});
