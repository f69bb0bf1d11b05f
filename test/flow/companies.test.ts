import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox, type SandboxOptions } from "../../src/sandbox/index.ts";

const service = (options: SandboxOptions = {}) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, ...options });
  const { fetch } = sandbox;
  return {
    sandbox,
    client: new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false }),
  };
};

const engines = { companyName: "Analytical Engines", domain: "engines.example", industry: "Computing" };

test("a company is created with its people, found by its domain, and changed", async () => {
  const { sandbox, client } = service();
  const people = [{ email: "ada@engines.example", name: "Ada", title: "Countess" }];
  const { id } = await client.companies.create({ ...engines, contacts: people });
  expect(sandbox.state.contacts).toMatchObject([{ email: "ada@engines.example", leadId: id }]);
  expect(await client.companies.findByDomain("ENGINES.example")).toMatchObject({ id, ...engines });
  expect(await client.companies.update(String(id), { industry: "Looms" })).toMatchObject({
    industry: "Looms",
  });
  expect(await client.companies.findByDomain("looms.example")).toBeNull();
});

test("a second create with the domain updates the company that is there", async () => {
  const { sandbox, client } = service();
  const first = await client.companies.create(engines);
  const second = await client.companies.create({ ...engines, companyName: "Engines Ltd" });
  expect(second.id).toBe(first.id);
  expect([...sandbox.state.companies.values()]).toMatchObject([{ companyName: "Engines Ltd" }]);
});

test("a create whose response is lost leaves one company", async () => {
  const { sandbox, client } = service();
  sandbox.fail({ operation: "companies.create", with: "reset-after-apply" });
  await client.companies.create(engines);
  expect([sandbox.state.companies.size, sandbox.state.requests.length]).toEqual([1, 2]);
});

test("a domain that another company has is a conflict, an id that nobody has is not found", async () => {
  const { client } = service();
  await client.companies.create(engines);
  const { id } = await client.companies.create({ companyName: "Looms", domain: "looms.example" });
  await expect(client.companies.update(String(id), { domain: "engines.example" })).rejects.toMatchObject({
    name: "ConflictError",
  });
  await expect(client.companies.update("nobody", { industry: "x" })).rejects.toMatchObject({
    name: "NotFoundError",
  });
});

test("creating needs both scopes", async () => {
  const { client } = service({ apiKeys: [{ key: "key", scopes: ["leads:write"] }] });
  await expect(client.companies.create(engines)).rejects.toMatchObject({ name: "PermissionDeniedError" });
});
