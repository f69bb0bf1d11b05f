import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client } from "../../src/index.ts";

const channels = [
  ...["client:beforeConnect", "client:connected", "client:connectError", "client:sendHeaders"],
  ...["request:create", "request:bodySent", "request:bodyChunkSent", "request:bodyChunkReceived"],
  ...["request:headers", "request:trailers", "request:error"],
].map((name) => `undici:${name}`);

const key = "canary-0123456789";
const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

interface Told {
  readonly request?: { readonly headers: readonly unknown[]; addHeader(name: string, value: string): void };
}

let told: { readonly channel: string; readonly request: object | undefined }[];
let received: IncomingHttpHeaders[];
let onCreate: (request: NonNullable<Told["request"]>) => void;
const server = createServer((request, response) => {
  received.push(request.headers);
  request.resume().on("end", () => response.end('{"id":"m1"}'));
});

const listen = (message: unknown, name: string | symbol): void => {
  // undici's own shape; the test reads no more of it than stock instrumentation does.
  const { request } = message as Told;
  if (name === "undici:request:create" && request !== undefined) onCreate(request);
  told.push({ channel: String(name), request });
};

beforeEach(async () => {
  [told, received, onCreate] = [[], [], () => undefined];
  for (const name of channels) subscribe(name, listen);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(async () => {
  for (const name of channels) unsubscribe(name, listen);
  server.close();
  await once(server, "close");
});

const clientOf = (): Client => {
  // Listening on a port of TCP: the address is no path.
  const { port } = server.address() as AddressInfo;
  return new Client({ apiKey: key, baseUrl: `http://127.0.0.1:${port}`, limits: false });
};

test("instrumentation follows one request through all channels, and may add a header to it", async () => {
  onCreate = (request) => request.addHeader("traceparent", "00-1-2-01");
  await using client = clientOf();
  await client.emails.send(email);
  expect(received.map(({ traceparent, host }) => [traceparent, host])).toEqual([
    ["00-1-2-01", expect.stringContaining("127.0.0.1")],
  ]);
  const about = told.filter(({ request }) => request !== undefined);
  expect(new Set(about.map(({ request }) => request)).size).toBe(1);
  expect(about.map(({ channel }) => channel.replace("undici:", ""))).toEqual([
    "request:create",
    "client:sendHeaders",
    "request:bodyChunkSent",
    "request:bodySent",
    "request:headers",
    "request:bodyChunkReceived",
    "request:trailers",
  ]);
});

test("a client with two keys sends each with its own request", async () => {
  let asked = 0;
  const { port } = server.address() as AddressInfo;
  const apiKey = (): string => {
    asked += 1;
    return `${key}-${asked}`;
  };
  await using client = new Client({ apiKey, baseUrl: `http://127.0.0.1:${port}`, limits: false });
  const other = client.withOptions({ apiKey: `${key}-other` });
  await Promise.all([client.emails.send(email), other.emails.send(email), other.emails.send(email)]);
  const sent = received.map(({ authorization }) => authorization).toSorted();
  expect(sent).toEqual([`Bearer ${key}-1`, `Bearer ${key}-other`, `Bearer ${key}-other`]);
});
