import { expect, test } from "vitest";
import { Client, ValidationError } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { served } from "./served.ts";

const emailsOf = async (contacts: AsyncIterable<{ readonly email: string }>): Promise<string[]> => {
  const emails: string[] = [];
  for await (const { email } of contacts) emails.push(email);
  return emails.sort();
};

const filled = async () => {
  const sandbox = createSandbox({ apiKeys: ["tp_key"] });
  const client = new Client({ apiKey: "tp_key", baseUrl: "https://crm.example", fetch: sandbox.fetch });
  const list = await client.lists.create({ name: "Engineers" });
  await client.lists.addContacts(list.id, ["ada@example.com", "grace@example.com"]);
  const contacts = [{ email: "emmy@example.com" }];
  const company = await client.companies.create({
    companyName: "Engines",
    domain: "engines.example",
    contacts,
  });
  return { sandbox, client, list, company };
};

test("the members of a list are the contacts with its id", async () => {
  const { client, list } = await filled();
  expect(await emailsOf(client.lists.members(list.id))).toEqual(["ada@example.com", "grace@example.com"]);
  expect(await emailsOf(client.lists.members("other"))).toEqual([]);
});

test("the contacts of a company are those with its id", async () => {
  const { client, company } = await filled();
  expect(await emailsOf(client.companies.contacts(company.id))).toEqual(["emmy@example.com"]);
});

test("no list and no company are refused before anything is sent", async () => {
  const { client, sandbox } = await filled();
  const before = sandbox.state.requests.length;
  await expect(emailsOf(client.lists.members(""))).rejects.toThrow(ValidationError);
  await expect(emailsOf(client.companies.contacts(""))).rejects.toThrow("companies.contacts: id");
  expect(sandbox.state.requests.length).toBe(before);
});

test.each([
  "https://service.test/api/v1",
  "https://service.test/api/v1/",
  "https://service.test//api/v1//",
  "https://service.test/API/V1",
])("the base URL %s is taken as meant", async (baseUrl) => {
  const { client, requests } = served([[200, { id: "list-1", name: "x" }]], { baseUrl });
  await client.lists.create({ name: "x" });
  expect(requests.map(({ path }) => path)).toEqual(["/api/v1/lists"]);
});

test("a route corrects method and path", async () => {
  const routes = {
    "emails.scheduled.cancel": "POST /api/v1/emails/scheduled/:id/cancel",
    "companies.findByDomain": "POST /api/v1/companies/search",
  };
  const { client, requests } = served([[204], [200, { data: [] }]], { routes });
  await client.emails.scheduled.cancel("s-1");
  await client.companies.findByDomain("engines.example");
  expect(requests).toMatchObject([
    { method: "POST", path: "/api/v1/emails/scheduled/s-1/cancel" },
    { method: "POST", path: "/api/v1/companies/search" },
  ]);
});

test("a record that is no contact is passed over where contacts are chosen from the list", async () => {
  const ada = { id: "c1", email: "ada@example.com", listIds: ["l1"], leadId: "co1" };
  const records = [null, "x", [], {}, { ...ada, id: "c0", email: null, listIds: null, leadId: null }, ada];
  const fetch = async (url: string, { method }: { method?: string } = {}): Promise<Response> => {
    if (method === "PATCH") return Response.json({ ...ada, name: "Ada" });
    const skip = Number(new URL(url).searchParams.get("skip"));
    return Response.json({ data: records.slice(skip), total: records.length, skip, limit: 200 });
  };
  const client = new Client({ apiKey: "key", baseUrl: "https://odd.example", fetch, limits: false });
  expect(await emailsOf(client.lists.members("l1"))).toEqual(["ada@example.com"]);
  expect(await emailsOf(client.companies.contacts("co1"))).toEqual(["ada@example.com"]);
  expect(await client.contacts.import([{ email: "ada@example.com", name: "Ada" }])).toMatchObject({
    read: 1,
    updated: 1,
  });
});
