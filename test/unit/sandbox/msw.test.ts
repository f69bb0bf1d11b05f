import { setupServer } from "msw/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";

const sandbox = createSandbox();
const server = setupServer(...sandbox.handlers);
beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterAll(() => server.close());

const headers = { authorization: "Bearer sandbox-key", "content-type": "application/json" };

test("global fetch reaches the sandbox through MSW", async () => {
  const body = JSON.stringify({ email: "ada@example.com" });
  const made = await fetch("https://service.test/api/v1/contacts", { method: "POST", headers, body });
  expect(made.status).toBe(201);
  expect(sandbox.state.contacts).toMatchObject([{ email: "ada@example.com" }]);
});

test("a reset comes through as a failed fetch", async () => {
  sandbox.fail({ operation: "contacts.list", with: "reset-before" });
  await expect(fetch("https://service.test/api/v1/contacts", { headers })).rejects.toThrow(TypeError);
});

test("a client that uses global fetch reads and writes through MSW", async () => {
  // Made here: MSW puts its own fetch in the place of the global one.
  await using client = new Client({
    apiKey: "sandbox-key",
    baseUrl: "https://service.test",
    fetch: globalThis.fetch,
  });
  const { id } = await client.contacts.create({ email: "grace@example.com" });
  await client.contacts.update(id, { name: "Grace Hopper" });
  expect(await client.contacts.find("grace@example.com")).toMatchObject({ id, name: "Grace Hopper" });
  const receipt = await client.events.record({ name: "order.placed", contact: { id } });
  expect(receipt).toMatchObject({ contactId: id, outcome: "PROCESSED" });
  expect(sandbox.state.events).toMatchObject([{ id: receipt.id, name: "order.placed", contactId: id }]);
});
