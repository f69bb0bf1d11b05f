import { subscribe } from "node:diagnostics_channel";
import dns from "node:dns";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { undiciTransport } from "../../src/http/transport/undici.ts";
import { Client, type ClientOptions } from "../../src/index.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { bySpec } from "../support/sending.ts";
import { nobody } from "./faults/support/connections.ts";
import { clientSockets } from "./faults/support/sockets.ts";

/** Every socket that a client of this process has begun to open since the test began. */
const begun: Socket[] = [];

subscribe("net.client.socket", (message) => {
  // As node:net publishes it.
  begun.push((message as { readonly socket: Socket }).socket);
});

const ends: (() => unknown)[] = [];

afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
  begun.splice(0);
});

const empty: RequestListener = (_request, response) => response.end('{"data":[],"total":0}');

/** A server that says to keep a connection for long. */
const serve = async (listener: RequestListener): Promise<number> => {
  const server = createServer({ keepAliveTimeout: 600_000 }, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  // An http server that listens on TCP has such an address.
  return (server.address() as AddressInfo).port;
};

const clientOf = (url: string, options: ClientOptions = {}, clock?: FakeClock): Client => {
  const client = new Client(
    { apiKey: "key", baseUrl: url, allowInsecureHttp: true, limits: false, ...options },
    { random: () => 0, ...(clock && { clock }) },
  );
  ends.push(() => client.close());
  return client;
};

type Answer = (error: Error | null, addresses: readonly { address: string; family: number }[]) => void;

/** Looks names up as `lookup` says, for the rest of the test; node:net asks at each connection. */
const lookUpWith = (lookup: (answer: Answer) => void): void => {
  const before = dns.lookup;
  Object.assign(dns, { lookup: (_name: string, _options: object, answer: Answer) => lookup(answer) });
  ends.push(() => Object.assign(dns, { lookup: before }));
};

const here: Parameters<Answer> = [null, [{ address: "127.0.0.1", family: 4 }]];

test.each([1, 2, 16])(
  "a call after a minute takes a new socket, and waits for none of the %d old ones",
  async (concurrency) => {
    const port = await serve(empty);
    const clock = new FakeClock();
    const client = clientOf(`http://127.0.0.1:${port}`, { concurrency }, clock);
    const calls = (count: number) => Promise.all(Array.from({ length: count }, () => client.contacts.list()));
    await calls(concurrency);
    await clock.advance(60_000);
    await calls(concurrency);
    expect(begun).toHaveLength(concurrency);
    await clock.advance(1);
    await calls(1);
    expect(begun).toHaveLength(concurrency + 1);
    expect(clientSockets.size).toBe(1);
  },
);

test("a call that takes longer than a minute keeps its socket", async () => {
  const answers: (() => void)[] = [];
  const port = await serve((request, response) => answers.push(() => empty(request, response)));
  const clock = new FakeClock();
  const client = clientOf(`http://127.0.0.1:${port}`, { timeoutMs: 600_000 }, clock);
  // Asked for with the first `then`.
  const list = () => client.contacts.list().then(({ data }) => data);
  const first = list();
  while (answers.length === 0) await turn();
  await clock.advance(60_001);
  const second = list();
  while (answers.length === 1) await turn();
  for (const answer of answers) answer();
  expect(await Promise.all([first, second])).toEqual([[], []]);
  expect(begun).toHaveLength(2);
});

test("no email is unknown when the service closes each connection unannounced after its response", async () => {
  let emails = 0;
  const port = await serve((request, response) => {
    emails += 1;
    response.end('{"id":"m"}');
    request.socket.end();
  });
  const client = clientOf(`http://127.0.0.1:${port}`);
  const email = { to: "ada@example.com", subject: "Hi", text: "x" };
  for (let sent = 0; sent < 20; sent += 1) await client.emails.send(email);
  expect(emails).toBe(20);
});

test("simultaneous calls use one socket each, including one of an earlier call", async () => {
  let isHeld = false;
  const answers: (() => void)[] = [];
  const port = await serve((request, response) => {
    if (isHeld) answers.push(() => empty(request, response));
    else empty(request, response);
  });
  const client = clientOf(`http://127.0.0.1:${port}`);
  await client.contacts.list();
  isHeld = true;
  const calls = Promise.all([client.contacts.list(), client.contacts.list()]);
  while (answers.length < 2) await turn();
  for (const answer of answers) answer();
  await calls;
  expect(begun).toHaveLength(2);
});

test("a connection that takes over ten seconds is abandoned, and the retry opens another one", async () => {
  const port = await serve(empty);
  const lookups: Answer[] = [];
  lookUpWith((answer) => {
    if (lookups.push(answer) > 2) answer(...here);
  });
  const clock = new FakeClock();
  const client = clientOf(`http://service.localhost:${port}`, { concurrency: 1 }, clock);
  const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
  const sent = client.emails.send(email, { maxRetries: 0 }).catch((error: unknown) => error);
  while (lookups.length === 0) await turn();
  await clock.advance(9_999);
  expect(clientSockets.size).toBe(1);
  await clock.advance(1);
  expect(await sent).toMatchObject({
    code: "connection_failed",
    outcome: "not-applied",
    message: expect.stringContaining("ETIMEDOUT, no connection to service.localhost:"),
  });
  const listed = client.contacts.list().then(({ data }) => data);
  while (lookups.length === 1) await turn();
  await clock.advance(10_000);
  expect(await listed).toEqual([]);
  expect(lookups).toHaveLength(3);
  // The timer of attempts stays armed while the client is open.
  expect(clock.pending).toBe(1);
  await client.close();
  expect(clock.pending).toBe(0);
});

test("a refused connection names host and port", async () => {
  const { url, close } = await nobody();
  const client = clientOf(url, { maxRetries: 0 });
  const { host } = new URL(url);
  await expect(client.contacts.list()).rejects.toThrow(
    `contacts.list: not sent (ECONNREFUSED, no connection to ${host}). Nothing was changed.`,
  );
  await close();
});

test("close also ends connections that are still being opened", async () => {
  const port = await serve(empty);
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  lookUpWith(() => asked());
  const client = clientOf(`http://service.localhost:${port}`);
  const call = client.contacts.list().catch((error: unknown) => error);
  await isAsked;
  await client.close({ graceMs: 0 });
  expect(clientSockets.size).toBe(0);
  expect(await call).toMatchObject({ code: "connection_failed", outcome: "not-applied" });
});

test("close ends a call whose socket broke before it was sent, and which has a new one", async () => {
  let requests = 0;
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const port = await serve((request, response) => {
    requests += 1;
    if (requests === 1) empty(request, response);
    else asked();
  });
  const client = clientOf(`http://127.0.0.1:${port}`, { concurrency: 2 });
  await client.contacts.list();
  // Node tells undici of the end only when the request has been handed to it.
  begun[0]?.destroy();
  const call = client.contacts.list().catch((error: unknown) => error);
  await isAsked;
  await client.close({ graceMs: 0 });
  expect(await call).toMatchObject({ code: "connection_failed", attempts: 1 });
  expect(clientSockets.size).toBe(0);
  expect(requests).toBe(2);
});

test("calls that end before their connection is made leave it to the next one", async () => {
  const port = await serve(empty);
  const lookups: Answer[] = [];
  lookUpWith((answer) => void lookups.push(answer));
  const client = clientOf(`http://service.localhost:${port}`, { concurrency: 2 }, new FakeClock());
  const ended: unknown[] = [];
  for (let at = 0; at < 50; at += 1) {
    const controller = new AbortController();
    const call = client.contacts.list({}, { signal: controller.signal }).catch((error: unknown) => error);
    while (lookups.length === 0) await turn();
    await turn();
    controller.abort();
    ended.push(await call);
  }
  const call = client.contacts.list().then(({ data }) => data);
  await turn();
  lookups[0]?.(...here);
  expect(await call).toEqual([]);
  expect(ended.map((error) => (error instanceof Error ? error.name : ""))).toEqual(
    ended.map(() => "AbortError"),
  );
  expect(begun).toHaveLength(1);
});

test("while connections fail, no more are opened at once than requests are allowed", async () => {
  const port = await serve(empty);
  lookUpWith(() => undefined);
  const clock = new FakeClock();
  const options = { concurrency: 2, timeoutMs: 500, maxRetries: 0 };
  const client = clientOf(`http://service.localhost:${port}`, options, clock);
  const open: number[] = [];
  let calls = 0;
  const work = async (): Promise<void> => {
    while (clock.now() < 60_000) {
      await client.contacts.list().catch(() => undefined);
      calls += 1;
    }
  };
  const workers = [work(), work(), work()];
  while (begun.length === 0) await turn();
  for (let at = 0; at < 150; at += 1) {
    await clock.advance(500);
    open.push(clientSockets.size);
  }
  await Promise.all(workers);
  expect(calls).toBeGreaterThan(200);
  expect(Math.max(...open)).toBe(2);
});

test("a second close resolves no sooner than the first", async () => {
  const port = await serve(empty);
  const client = clientOf(`http://127.0.0.1:${port}`);
  await Promise.all(Array.from({ length: 16 }, () => client.contacts.list()));
  const first = client.close();
  await client.close();
  expect(clientSockets.size).toBe(0);
  await first;
});

test("a request to a closed transport opens no connection", async () => {
  const port = await serve(empty);
  const clock = new FakeClock();
  const transport = undiciTransport({
    origin: `http://127.0.0.1:${port}`,
    dispatcher: undefined,
    maxResponseBytes: 1_000,
    clock,
  });
  await transport.close();
  await expect(bySpec(transport.send)()).rejects.toMatchObject({
    kind: "connection",
    wasSent: false,
    message: expect.stringContaining("ERR_CLIENT_CLOSED, no connection"),
    cause: { message: "the client was closed" },
  });
  expect(begun).toHaveLength(0);
});
