import { expect, test } from "vitest";
import { Client, ValidationError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const scene = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  return { sandbox, client };
};

test("a free request goes through the same stages, with its query and body", async () => {
  const { sandbox, client } = scene();
  const body = { email: "ada@example.com" };
  await client.request({ method: "POST", path: "/api/v1/contacts", body });
  const found = await client.request({
    method: "GET",
    path: "/api/v1/contacts",
    query: { search: "ada@example.com", limit: 1 },
  });
  expect(found).toMatchObject({ total: 1, data: [body] });
  expect(sandbox.state.requests.map(({ path, query }) => ({ path, query }))).toEqual([
    { path: "/api/v1/contacts", query: {} },
    { path: "/api/v1/contacts", query: { search: "ada@example.com", limit: "1" } },
  ]);
});

test("a free write whose answer is lost is not sent again, unless its replay class allows it", async () => {
  const { sandbox, client } = scene();
  sandbox.fail({ operation: "contacts.create", with: "reset-after-apply" });
  const lost = client.request({
    method: "POST",
    path: "/api/v1/contacts",
    body: { email: "ada@example.com" },
  });
  await expect(lost).rejects.toMatchObject({ outcome: "unknown", attempts: 1, operation: "request" });
});

test.each([
  ["an absolute URL", "https://elsewhere.example/x"],
  ["another host", "//elsewhere.example/x"],
  ["no slash", "api/v1/contacts"],
  ["a dot segment", "/api/v1/../admin"],
  ["an encoded dot segment", "/api/v1/%2e%2E/admin"],
  ["a query", "/api/v1/contacts?limit=1"],
  ["a backslash", "/api\\v1"],
  ["a line break", "/api\r\nHost: elsewhere.example"],
])("a path with %s is refused by a rejection, and nothing is sent", async (_what, path) => {
  const { sandbox, client } = scene();
  await expect(client.request({ method: "GET", path })).rejects.toBeInstanceOf(ValidationError);
  expect(sandbox.state.requests).toEqual([]);
});

test("a sibling shares the sockets' slots and the budgets of its client", async () => {
  const { client } = scene();
  const sibling = client.withOptions({ maxRetries: 0 });
  await sibling.contacts.list();
  expect(client.budgets().requests.used).toBe(1);
  expect(sibling.budgets()).toEqual(client.budgets());
});
