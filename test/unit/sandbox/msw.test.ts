import { setupServer } from "msw/node";
import { afterAll, beforeAll, expect, test } from "vitest";
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
