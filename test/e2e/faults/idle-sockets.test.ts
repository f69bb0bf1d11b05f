import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { turn } from "../../support/fake-clock.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A service that says how long it keeps an idle connection, and counts those that are made. */
const serve = async (keepAlive: string | undefined) => {
  let connections = 0;
  // Node would add a hint of its own.
  const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => {
    if (keepAlive !== undefined) response.setHeader("keep-alive", keepAlive);
    response.setHeader("connection", "keep-alive").end('{"data":[]}');
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server always has an address object, never a pipe's name.
  const { port } = server.address() as AddressInfo;
  const client = new Client({ baseUrl: `http://127.0.0.1:${port}`, apiKey: `idle-${port}`, limits: false });
  closers.push(async () => {
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  });
  for (let calls = 0; calls < 3; calls += 1) {
    await client.contacts.list();
    await turn();
  }
  return connections;
};

test("a connection is kept for the next call", async () => {
  expect(await serve(undefined)).toBe(1);
  expect(await serve("timeout=60")).toBe(1);
});

test("a connection that the service keeps for a second only is not used again", async () => {
  expect(await serve("timeout=1")).toBe(3);
});
