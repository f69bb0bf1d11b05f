import { expect, test } from "vitest";
import { open } from "./client.ts";

const path = "/api/v1/companies";
const acme = {
  companyName: "Acme",
  domain: "acme.example",
  industry: "Tools",
  contacts: [{ email: "ada@acme.example", name: "Ada", title: "CTO" }, { email: "bob@acme.example" }],
};
// What the sandbox answers is checked as a whole where it matters.
const idOf = (body: unknown) => (body as { id: string }).id;

test("a company comes with its people, and answers ids", async () => {
  const { call, sandbox } = open();
  const { status, body } = await call("POST", path, acme);
  const [ada, bob] = sandbox.state.contacts;
  expect(status).toBe(201);
  expect(body).toEqual({ id: ada?.leadId, contactIds: [ada?.id, bob?.id] });
  expect(ada).toMatchObject({ email: "ada@acme.example", name: "Ada", title: "CTO" });
});

test("the same domain, in any case, updates the company and its people", async () => {
  const { call, sandbox } = open();
  const first = await call("POST", path, acme);
  const again = await call("POST", path, {
    companyName: "Acme Inc",
    domain: "ACME.example",
    contacts: [{ email: "ada@acme.example", title: "CEO" }],
  });
  expect([again.status, idOf(again.body)]).toEqual([200, idOf(first.body)]);
  expect([...sandbox.state.companies.values()]).toMatchObject([
    { companyName: "Acme Inc", industry: "Tools" },
  ]);
  expect(sandbox.state.contacts).toMatchObject([{ name: "Ada", title: "CEO" }, {}]);
});

test("without a domain each call adds a company", async () => {
  const { call, sandbox } = open();
  await call("POST", path, { companyName: "Acme" });
  await call("POST", path, { companyName: "Acme" });
  expect(sandbox.state.companies.size).toBe(2);
});

test.each([
  [{}, "The body must have a field of a company."],
  [{ ...acme, companyName: " " }, "companyName must be a string that is not blank."],
  [{ ...acme, contacts: {} }, "contacts must be an array."],
  [{ ...acme, contacts: [{}] }, "contacts[0].email is missing."],
  [
    { ...acme, contacts: [{ email: "a@b.example", name: 7 }] },
    "contacts[0].name must be a string that is not blank.",
  ],
  [{ ...acme, domain: 7 }, "domain must be a string that is not blank."],
])("%j is a 400 that creates nothing", async (body, error) => {
  const { call, sandbox } = open();
  const reply = await call("POST", path, body);
  expect([reply.status, reply.body]).toEqual([400, { error }]);
  expect([sandbox.state.companies.size, sandbox.state.contacts.length]).toEqual([0, 0]);
});

test("a company is found by its domain, with its people", async () => {
  const { call } = open();
  const made = await call("POST", path, acme);
  const { body } = await call("GET", `${path}?domain=Acme.Example`);
  expect(body).toMatchObject({
    data: [{ ...acme, id: idOf(made.body), contacts: [{ email: "ada@acme.example" }, {}] }],
    total: 1,
  });
  expect((await call("GET", `${path}?domain=none.example`)).body).toMatchObject({ data: [], total: 0 });
  expect((await call("GET", path)).status).toBe(400);
});

test("an update changes the fields sent; a domain that is taken is a 409", async () => {
  const { call } = open();
  const id = idOf((await call("POST", path, acme)).body);
  await call("POST", path, { companyName: "Other", domain: "other.example" });
  const updated = await call("PATCH", `${path}/${id}`, { industry: "Anvils", domain: "acme2.example" });
  expect(updated).toMatchObject({ status: 200, body: { id, companyName: "Acme", industry: "Anvils" } });
  expect((await call("GET", `${path}?domain=acme.example`)).body).toMatchObject({ total: 0 });
  expect((await call("PATCH", `${path}/${id}`, { domain: "other.example" })).status).toBe(409);
  expect((await call("PATCH", `${path}/${id}`, { domain: "ACME2.example" })).status).toBe(200);
  expect((await call("PATCH", `${path}/co_none`, {})).status).toBe(404);
});

test("a contact can be moved to a company of its workspace", async () => {
  const { call, sandbox } = open();
  const leadId = idOf((await call("POST", path, { companyName: "Acme" })).body);
  const ada = sandbox.addContact({ email: "ada@example.com" });
  expect((await call("PATCH", `/api/v1/contacts/${ada.id}`, { leadId })).body).toMatchObject({ leadId });
});
