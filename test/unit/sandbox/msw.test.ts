import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { createSandbox, type SandboxOptions } from "../../../src/sandbox/index.ts";

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

describe("handlers leave the requests of others alone", () => {
  const others: string[] = [];
  const other = http.all("*", ({ request }) => {
    others.push(request.url);
    return Response.json({ from: "another" });
  });
  const listens = async (options: SandboxOptions, run: () => Promise<void>) => {
    others.length = 0;
    server.resetHandlers(...createSandbox(options).handlers, other);
    await run().finally(() => server.resetHandlers());
  };
  const status = async (url: string, key = "sandbox-key") =>
    (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status;

  test("without baseUrl, a request is the service's if it carries one of the keys", () =>
    listens({ apiKeys: ["sandbox-key", { key: "old", revoked: true }] }, async () => {
      expect(await status("https://service.test/api/v1/contacts")).toBe(200);
      expect(await status("https://service.test/api/v1/contacts", "old")).toBe(401);
      expect(others).toEqual([]);
      expect(await status("https://other.test/api/v1/charges", "sk_other")).toBe(200);
      await fetch("https://other.test/api/v1/contacts");
      expect(others).toEqual(["https://other.test/api/v1/charges", "https://other.test/api/v1/contacts"]);
    }));

  test.each(["https://service.test", "https://service.test/", "https://service.test/crm/"])(
    "with baseUrl %s, if it goes there",
    (baseUrl) =>
      listens({ baseUrl }, async () => {
        const contacts = new URL("api/v1/contacts", baseUrl.replace(/\/?$/, "/")).href;
        expect([await status(contacts), await status(contacts, "wrong")]).toEqual([200, 401]);
        expect(others).toEqual([]);
        await status("https://service.test.evil.test/api/v1/contacts");
        await status("https://other.test/api/v1/contacts");
        expect(others).toEqual([
          "https://service.test.evil.test/api/v1/contacts",
          "https://other.test/api/v1/contacts",
        ]);
      }),
  );
});

test("a send that no handler matches does not get out, set up as the testing guide shows", async () => {
  const requests: string[] = [];
  const network = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end("{}");
  });
  await new Promise<void>((resolve) => network.listen(0, "127.0.0.1", resolve));
  // A TCP server always has an address object, never a pipe's name.
  const { port } = network.address() as AddressInfo;
  server.resetHandlers(...createSandbox({ baseUrl: "https://crm.example" }).handlers);
  await using client = new Client({
    apiKey: "sandbox-key",
    baseUrl: `http://127.0.0.1:${port}`,
    limits: false,
  });
  const sent = client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hi" });
  await expect(sent).rejects.toMatchObject({ code: "connection_failed", outcome: "not-applied" });
  expect(requests).toEqual([]);
  server.resetHandlers();
  network.close();
});
