import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";

const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

/** A server that never answers, and counts what it is asked. */
const silentServer = async () => {
  let requests = 0;
  let heard: () => void = () => undefined;
  const server = createServer(() => {
    requests += 1;
    heard();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // An http server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: new Promise<void>((resolve) => {
      heard = resolve;
    }),
    requests: () => requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

test("close ends a repeatable call under way, and it is not repeated", async () => {
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url });
  const call = client.contacts.list().catch((error: unknown) => error);
  await server.asked;
  await client.close();
  expect(await call).toMatchObject({ code: "connection_failed", attempts: 1 });
  expect(server.requests()).toBe(1);
  server.stop();
});

test.each<[string, () => ClientOptions]>([
  ["a fetch", () => ({ fetch: globalThis.fetch })],
  ["a dispatcher that stays open", () => ({ dispatcher: new Agent() })],
])("close ends an email under way through %s, and says that it may have gone out", async (_way, options) => {
  const server = await silentServer();
  const given = options();
  const client = new Client({ apiKey: "key", baseUrl: server.url, ...given });
  const call = client.emails.send(email).catch((error: unknown) => error);
  await server.asked;
  await client.close();
  expect(await call).toMatchObject({ code: "connection_failed", outcome: "unknown", attempts: 1 });
  expect(given.dispatcher).not.toMatchObject({ destroyed: true });
  server.stop();
});

test.each<[string, ClientOptions]>([
  ["the library's first request to load", {}],
  ["a slot", { concurrency: 1 }],
  ["a budget", { limits: { requests: { max: 1, perMs: 50 } } }],
])("a call that waits for %s while its client is closed is not sent", async (_what, options) => {
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url, ...options });
  const isFirst = Object.keys(options).length === 0;
  const first = client.contacts.list().catch((error: unknown) => error);
  if (!isFirst) await server.asked;
  const waiting = client.emails.send(email).catch((error: unknown) => error);
  await client.close();
  expect(await first).toMatchObject({ code: "connection_failed" });
  expect(await waiting).toMatchObject({ code: "connection_failed", outcome: "not-applied", attempts: 0 });
  expect(server.requests()).toBe(isFirst ? 0 : 1);
  server.stop();
});

test("a call that waits for its key while its client is closed is not sent", async () => {
  const server = await silentServer();
  let give: (key: string) => void = () => undefined;
  const key = new Promise<string>((resolve) => {
    give = resolve;
  });
  const client = new Client({ apiKey: () => key, baseUrl: server.url });
  const call = client.contacts.list().catch((error: unknown) => error);
  await client.close();
  give("key");
  expect(await call).toMatchObject({ code: "connection_failed", attempts: 0 });
  expect(server.requests()).toBe(0);
  server.stop();
});
