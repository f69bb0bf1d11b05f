import { expect, test } from "vitest";
import { served } from "./served.ts";

const company = { id: "co-1", companyName: "Analytical Engines", domain: "engines.example" };

test("a company is sent with its people, and its ids are returned", async () => {
  const { client, requests } = served([[201, { id: "co-1", contactIds: ["c-1"] }]]);
  const input = {
    companyName: "Analytical Engines",
    domain: "engines.example",
    industry: "Computing",
    contacts: [{ email: "ada@engines.example", name: "Ada", title: "Countess" }],
  };
  expect(await client.companies.create(input)).toEqual({ id: "co-1", contactIds: ["c-1"] });
  expect(requests).toEqual([{ method: "POST", path: "/api/v1/companies", body: input }]);
});

const ids: readonly [string, unknown, object][] = [
  ["companyId and contactIds", { companyId: "co-1", contactIds: ["c-1"] }, { contactIds: ["c-1"] }],
  ["leadId alone", { leadId: "co-1" }, {}],
  ["an envelope", { data: { id: "co-1" } }, {}],
  [
    "a company and contacts",
    { company, contacts: [{ id: "c-1" }, { id: "c-2" }] },
    { contactIds: ["c-1", "c-2"] },
  ],
  ["ids of people bare", { lead: company, contacts: ["c-1"] }, { contactIds: ["c-1"] }],
];

test.each(ids)("the ids of a new company are found in %s", async (_shape, body, more) => {
  const { client } = served([[200, body]]);
  expect(await client.companies.create({ companyName: "x" })).toMatchObject({ id: "co-1", ...more });
});

test("with a domain a lost create is repeated, without one it is not", async () => {
  const lost = new Error("socket hang up");
  const twice = served([lost, [200, company]]);
  const creating = twice.client.companies.create({ companyName: "x", domain: "engines.example" });
  expect(await twice.clock.until(creating)).toMatchObject({ id: "co-1" });
  const once = served([lost]);
  await expect(once.client.companies.create({ companyName: "x" })).rejects.toMatchObject({
    outcome: "unknown",
  });
});

test("a company is created with whichever field it has, since the document requires none", async () => {
  const inputs = [
    { domain: "engines.example" },
    { industry: "Computing" },
    { contacts: [{ email: "ada@example.com" }] },
  ];
  const { client, requests } = served(inputs.map(() => [200, company]));
  for (const input of inputs) await client.companies.create(input);
  expect(requests.map(({ body }) => body)).toEqual(inputs);
});

test.each([
  [{ companyName: " " }, "companies.create: companyName: must not be empty"],
  [{}, "companies.create: must have a field: companyName, domain, industry or contacts"],
  [
    { companyName: undefined },
    "companies.create: must have a field: companyName, domain, industry or contacts",
  ],
])("the company %j is refused before anything is sent", async (input, message) => {
  const { client, requests } = served([]);
  await expect(client.companies.create(input)).rejects.toThrow(message);
  expect(requests).toEqual([]);
});

test("an update sends the fields given to the company's own path", async () => {
  const { client, requests } = served([[200, { company: { ...company, industry: "Looms" } }]]);
  expect(await client.companies.update("co/1", { industry: "Looms" })).toMatchObject({ industry: "Looms" });
  expect(requests).toEqual([
    { method: "PATCH", path: "/api/v1/companies/co%2F1", body: { industry: "Looms" } },
  ]);
});

test("an update may be answered without a body", async () => {
  const { client } = served([[204], [200, null]]);
  expect(await client.companies.update("co-1", { industry: "Looms" })).toEqual({ id: "co-1" });
  expect(await client.companies.update("co-1", { industry: "Looms" })).toEqual({ id: "co-1" });
});

const found: readonly [string, unknown][] = [
  ["a page", { data: [company], total: 1, skip: 0, limit: 50 }],
  ["a bare array", [company]],
  ["one record", company],
  ["one record in an envelope", { data: company }],
  ["records under another name", { companies: [{ ...company, id: undefined, companyId: "co-1" }] }],
  ["the only record, without a domain", [{ id: "co-1" }]],
  ["a list with neighbors", { data: [{ id: "co-2", domain: "my-engines.example" }, company] }],
];

test.each(found)("a company is found by its domain, in any case, in %s", async (_shape, body) => {
  const { client, requests } = served([[200, body]]);
  expect(await client.companies.findByDomain("Engines.EXAMPLE")).toMatchObject({ id: "co-1" });
  expect(requests).toMatchObject([{ method: "GET", path: "/api/v1/companies?domain=Engines.EXAMPLE" }]);
});

const absent: readonly [string, number, unknown][] = [
  ["an empty page", 200, { data: [], total: 0 }],
  ["an empty array", 200, []],
  ["null", 200, null],
  ["404", 404, { error: "No company." }],
  ["other domains only", 200, [{ id: "co-2", domain: "my-engines.example" }]],
  ["several records without a domain", 200, [{ id: "co-1" }, { id: "co-2" }]],
];

test.each(absent)("nobody has the domain when the answer is %s", async (_shape, status, body) => {
  const { client } = served([[status, body]]);
  expect(await client.companies.findByDomain("engines.example")).toBeNull();
});

test("a failed search is no absence", async () => {
  const { client } = served([[403, { error: "No." }]]);
  await expect(client.companies.findByDomain("engines.example")).rejects.toMatchObject({ status: 403 });
});

test("the response behind a search is at hand, found or not", async () => {
  const { client } = served([
    [200, [company]],
    [404, { error: "No company." }],
  ]);
  const first = await client.companies.findByDomain("engines.example").withResponse();
  expect([first.data?.id, first.response.status]).toEqual(["co-1", 200]);
  const second = await client.companies.findByDomain("engines.example").withResponse();
  expect([second.data, second.response.status, second.response.attempts]).toEqual([null, 404, 1]);
});

test("a corrected route is the one that is used", async () => {
  const routes = { "companies.create": "/api/v1/leads", "companies.findByDomain": "/api/v1/leads/search" };
  const { client, requests } = served(
    [
      [200, { id: "co-1" }],
      [200, []],
    ],
    { routes },
  );
  await client.companies.create({ companyName: "x" });
  await client.companies.findByDomain("x.example");
  expect(requests.map(({ path }) => path)).toEqual([
    "/api/v1/leads",
    "/api/v1/leads/search?domain=x.example",
  ]);
});
