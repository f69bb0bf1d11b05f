import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { expect, test } from "vitest";
import { type ClaimLedger, Client, type ClientOptions, memoryLedger, type Outcome } from "../../src/index.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

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
  await client.close({ graceMs: 0 });
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
  await client.close({ graceMs: 0 });
  expect(await call).toMatchObject({ code: "connection_failed", outcome: "unknown", attempts: 1 });
  expect(given.dispatcher).not.toMatchObject({ destroyed: true });
  server.stop();
});

test.each<[string, ClientOptions]>([
  ["the library's first request to load", {}],
  ["a slot", { concurrency: 1 }],
  ["a budget", { limits: { requests: { max: 1, windowMs: 50 } } }],
])("a call that waits for %s while its client is closed is not sent", async (_what, options) => {
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url, ...options });
  const isFirst = Object.keys(options).length === 0;
  const first = client.contacts.list().catch((error: unknown) => error);
  if (!isFirst) await server.asked;
  const waiting = client.emails.send(email).catch((error: unknown) => error);
  await client.close({ graceMs: 0 });
  expect(await first).toMatchObject({ code: "connection_failed" });
  expect(await waiting).toMatchObject({ code: "connection_failed", outcome: "not-applied", attempts: 0 });
  expect(server.requests()).toBe(isFirst ? 0 : 1);
  server.stop();
});

/** A server that answers at once, and counts what it is asked. */
const answeringServer = async (
  status: number,
  answer: (asked: { readonly requests: number; readonly path: string }) => unknown,
  headers: Readonly<Record<string, string>> = {},
) => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    request.on("end", () => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(answer({ requests, path: request.url ?? "" })));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // As above.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const contact = { id: "c1", email: "ada@example.com" };
const someEvents = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: "seen", contact: { id: "1" }, properties: { at } }));
const someAddresses = (count: number) => Array.from({ length: count }, (_, at) => `p${at}@example.com`);
const stream = async function* <T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
};
const accepted = { accepted: 1, rejected: 0, results: [{ status: 202 }] };

test.each<[string, unknown, (client: Client) => Promise<unknown>, outcome?: Outcome]>([
  [
    "an import of an array",
    contact,
    (client) => client.contacts.import(someAddresses(60).map((email) => ({ email }))),
  ],
  [
    "an import of a stream",
    contact,
    (client) => client.contacts.import(stream(someAddresses(60).map((email) => ({ email })))),
  ],
  [
    "an ingestion of an array",
    accepted,
    (client) => client.events.ingest(someEvents(9), { batchSize: 1, concurrency: 1 }),
    // The first request has recorded an event; the same below.
    "unknown",
  ],
  [
    "an ingestion of a stream",
    accepted,
    (client) => client.events.ingest(stream(someEvents(9)), { batchSize: 1, concurrency: 1 }),
    "unknown",
  ],
  [
    "an ingestion whose events failed for a passing reason",
    { accepted: 0, rejected: 1, results: [{ status: 503, error: "busy" }] },
    (client) => client.events.ingest(someEvents(1)),
    // As with a whole request, a 503 proves nothing.
    "unknown",
  ],
  [
    "a batch that is repeated",
    { results: [] },
    (client) => client.events.recordBatch(someEvents(1)),
    "unknown",
  ],
  ["a long batch", accepted, (client) => client.events.recordBatch(someEvents(900)), "unknown"],
  [
    "a change of a list's members",
    {},
    (client) => client.lists.addContacts("l1", someAddresses(9_000)),
    "unknown",
  ],
  [
    "a change of a list's members from a stream",
    {},
    (client) => client.lists.addContacts("l1", stream(someAddresses(9_000))),
    "unknown",
  ],
  [
    "a whole list",
    { data: [contact], total: 9 },
    (client) => client.contacts.list({ limit: 1 }, { consistency: "fast" }).toArray(),
  ],
])(
  "%s sends nothing more once its client is closed",
  async (_what, answer, work, outcome = "not-applied") => {
    const server = await answeringServer(200, () => answer);
    let closing: Promise<unknown> | undefined;
    const client: Client = new Client({
      apiKey: "key",
      baseUrl: server.url,
      concurrency: 1,
      hooks: {
        onResponse: () => {
          closing ??= client.close({ graceMs: 0 });
        },
      },
    });
    await expect(work(client)).rejects.toMatchObject({
      code: "connection_failed",
      outcome,
      // The one before the close.
      attempts: 1,
      message: expect.stringContaining(`the client was closed, outcome ${outcome}`),
    });
    await closing;
    expect(server.requests()).toBe(1);
    server.stop();
  },
);

test("an iteration requests no further page after its client is closed, but a later iteration does", async () => {
  const server = await answeringServer(200, ({ requests }) => ({
    data: [{ ...contact, id: `c${requests}` }],
    total: 9,
  }));
  const client = new Client({ apiKey: "key", baseUrl: server.url });
  const list = client.contacts.list({ limit: 1 }, { prefetch: 0, consistency: "fast" });
  const pages = list.pages();
  expect(await pages.next()).toMatchObject({ value: { data: [{ id: "c1" }] } });
  await client.close({ graceMs: 0 });
  const failure = { code: "connection_failed", outcome: "not-applied", attempts: 0 };
  await expect(pages.next()).rejects.toMatchObject(failure);
  await expect(pages.next()).rejects.toMatchObject(failure);
  expect(server.requests()).toBe(1);
  expect(await list.pages().next()).toMatchObject({ value: { data: [{ id: "c2" }] } });
  await client.close({ graceMs: 0 });
  server.stop();
});

test("an iteration whose client is closed at its start requests nothing", async () => {
  const server = await answeringServer(200, () => ({ data: [], total: 0 }));
  const client = new Client({ apiKey: "key", baseUrl: server.url });
  const first = client.contacts.list()[Symbol.asyncIterator]().next();
  await Promise.all([
    expect(first).rejects.toMatchObject({ code: "connection_failed", attempts: 0 }),
    client.close({ graceMs: 0 }),
  ]);
  expect(server.requests()).toBe(0);
  server.stop();
});

test("an upsert that close cuts off searches nothing, and its outcome stays unknown", async () => {
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url });
  const call = client.contacts.upsert({ email: "ada@example.com" }).catch((error: unknown) => error);
  await server.asked;
  await client.close({ graceMs: 0 });
  expect(await call).toMatchObject({ code: "connection_failed", outcome: "unknown" });
  expect(server.requests()).toBe(1);
  server.stop();
});

const aMinute = { max: 1, windowMs: 60_000 };

test.each<[string, number, Readonly<Record<string, string>>, ClientOptions, number]>([
  ["a budget", 200, {}, { limits: { requests: aMinute } }, 0],
  ["a Retry-After", 429, { "retry-after": "30" }, {}, 1],
  ["a back-off", 500, { "retry-after": "30" }, {}, 1],
])("close ends a wait for %s at once", async (what, status, headers, options, attempts) => {
  const server = await answeringServer(status, () => ({ data: [], total: 0 }), headers);
  let tell: () => void = () => undefined;
  const waits = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const hooks = what === "a back-off" ? { onRetry: () => tell() } : { onWait: () => tell() };
  const client = new Client({ apiKey: "key", baseUrl: server.url, ...options, hooks });
  if (what === "a budget") await client.contacts.list();
  const call = client.contacts.list().catch((error: unknown) => error);
  await waits;
  await client.close({ graceMs: 0 });
  expect(await call).toMatchObject({
    code: "connection_failed",
    outcome: "not-applied",
    attempts,
    message: expect.stringContaining("the client was closed"),
  });
  expect(server.requests()).toBe(1);
  server.stop();
});

test("close of one client does not end the waits of other clients with the same key", async () => {
  const server = await answeringServer(200, () => ({ data: [], total: 0 }));
  const options = { apiKey: "key", baseUrl: server.url, limits: { requests: { max: 1, windowMs: 50 } } };
  const closed = new Client(options);
  const other = new Client(options);
  await other.contacts.list();
  const refused = closed.contacts.list().catch((error: unknown) => error);
  const waiting = other.contacts.list();
  await closed.close();
  expect(await refused).toMatchObject({ code: "connection_failed", attempts: 0 });
  expect(await waiting).toMatchObject({ data: [] });
  expect(server.requests()).toBe(2);
  await other.close();
  server.stop();
});

test("close of a sibling that shares the sockets ends no call", async () => {
  const server = await answeringServer(200, () => ({ data: [], total: 0 }));
  const client = new Client({
    apiKey: "key",
    baseUrl: server.url,
    limits: { requests: { max: 1, windowMs: 50 } },
  });
  const sibling = client.withOptions({ timeoutMs: 5_000 });
  await sibling.contacts.list();
  const waiting = sibling.contacts.list();
  await sibling.close();
  expect(await waiting).toMatchObject({ data: [] });
  const ended = sibling.contacts.list().catch((error: unknown) => error);
  await client.close({ graceMs: 0 });
  expect(await ended).toMatchObject({ code: "connection_failed", attempts: 0 });
  server.stop();
});

test("close ends the wait for a key that never comes", async () => {
  const server = await silentServer();
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const apiKey = () => {
    asked();
    return new Promise<string>(() => undefined);
  };
  const client = new Client({ apiKey, baseUrl: server.url });
  const call = client.contacts.list().catch((error: unknown) => error);
  await isAsked;
  await client.close({ graceMs: 0 });
  expect(await call).toMatchObject({ code: "connection_failed", outcome: "not-applied", attempts: 0 });
  expect(server.requests()).toBe(0);
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
  await client.close({ graceMs: 0 });
  give("key");
  expect(await call).toMatchObject({ code: "connection_failed", attempts: 0 });
  expect(server.requests()).toBe(0);
  server.stop();
});

test.each<readonly [string, (client: Client, source: AsyncIterable<never>) => Promise<unknown>]>([
  ["an ingestion", (client, source) => client.events.ingest(source)],
  ["an import", (client, source) => client.contacts.import(source)],
  ["a change of a list", (client, source) => client.lists.addContacts("list_1", source)],
])("close ends %s whose source has gone quiet", async (_what, run) => {
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url });
  let isLetGo = false;
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const source: AsyncIterable<never> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        asked();
        return new Promise(() => undefined);
      },
      return: async () => {
        isLetGo = true;
        return { done: true, value: undefined };
      },
    }),
  };
  const ended = run(client, source).catch((error: unknown) => error);
  await isAsked;
  await client.close({ graceMs: 0 });
  expect(await ended).toMatchObject({
    code: "connection_failed",
    outcome: "not-applied",
    message: expect.stringContaining("the client was closed"),
  });
  expect(isLetGo).toBe(true);
  expect(server.requests()).toBe(0);
  server.stop();
});

/** A ledger in memory whose answers come some turns of the event loop late, as those of a disk do. */
const slowLedger = () => {
  const ledger = memoryLedger();
  const claimed: string[] = [];
  const late = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let turns = 0; turns < 20; turns += 1) await turn();
    return work();
  };
  const slow: ClaimLedger = {
    claim: (key, fingerprint, details) => {
      claimed.push(key);
      return late(() => ledger.claim(key, fingerprint, details));
    },
    settle: (key, as, options) => late(() => ledger.settle(key, as, options)),
    settleScheduled: (id, as) => late(async () => ledger.settleScheduled?.(id, as)),
  };
  return { ledger, slow, claimed };
};

test("close waits until the ledger has recorded a sent email", async () => {
  const { ledger, slow } = slowLedger();
  const server = await answeringServer(200, () => ({ id: "em_1", ...email }));
  const client = new Client({ apiKey: "key", baseUrl: server.url, ledger: slow });
  const answered = new Promise<void>((resolve) => {
    const watched = client.withOptions({ hooks: { onResponse: () => resolve() } });
    watched.emails.send(email, { once: "1" }).catch(() => undefined);
  });
  await answered;
  await client.close();
  expect(await ledger.get("1")).toMatchObject({ state: "sent" });
  server.stop();
});

test("close waits until the ledger has recorded an email that was cut off", async () => {
  const { ledger, slow } = slowLedger();
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url, ledger: slow });
  const call = client.emails.send(email, { once: "1" }).catch((error: unknown) => error);
  await server.asked;
  await client.close({ graceMs: 0 });
  expect(await ledger.get("1")).toMatchObject({ state: "unknown" });
  expect(await call).toMatchObject({ outcome: "unknown" });
  server.stop();
});

test("close waits for a claim in progress, and frees its key", async () => {
  const { ledger, slow } = slowLedger();
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url, ledger: slow });
  const call = client.emails.send(email, { once: "1" }).catch((error: unknown) => error);
  const ended: string[] = [];
  void call.then(() => ended.push("the call"));
  await client.close();
  ended.push("the client");
  expect(ended).toEqual(["the call", "the client"]);
  expect(await ledger.get("1")).toBeUndefined();
  expect(await call).toMatchObject({ outcome: "not-applied" });
  expect(server.requests()).toBe(0);
  server.stop();
});

test("an email that starts while its client closes claims no key", async () => {
  const { slow, claimed } = slowLedger();
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url, ledger: slow });
  const first = client.emails.send(email, { once: "1" }).catch((error: unknown) => error);
  await server.asked;
  const closing = client.close();
  const call = client.emails.send(email, { once: "2" });
  await expect(call).rejects.toMatchObject({ outcome: "not-applied", attempts: 0 });
  expect(claimed).toEqual(["1"]);
  server.stop();
  await Promise.all([closing, first]);
  expect(server.requests()).toBe(1);
});

test("close waits until the ledger has recorded an email that its caller aborted", async () => {
  const { ledger, slow } = slowLedger();
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url, ledger: slow });
  const caller = new AbortController();
  const call = client.emails
    .send(email, { once: "1", signal: caller.signal })
    .catch((error: unknown) => error);
  await server.asked;
  caller.abort();
  await call;
  await client.close();
  expect(await ledger.get("1")).toMatchObject({ state: "unknown" });
  server.stop();
});

test("close waits until the ledger has recorded a confirmed cancellation", async () => {
  const { ledger, slow } = slowLedger();
  const sendAt = new Date(Date.now() + 60_000).toISOString();
  const server = await answeringServer(200, () => ({ id: "em_1", status: "SCHEDULED", sendAt }));
  let tell: () => void = () => undefined;
  const options = { apiKey: "key", baseUrl: server.url, ledger: slow, hooks: { onResponse: () => tell() } };
  const client = new Client(options);
  await client.emails.schedule({ ...email, sendAt }, { once: "1" });
  const answered = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const cancelling = client.emails.scheduled.cancel("em_1");
  await answered;
  await client.close();
  expect(await ledger.get("1")).toBeUndefined();
  await cancelling;
  server.stop();
});

test("a hanging ledger delays close by at most a second", async () => {
  const clock = new FakeClock();
  const hanging: ClaimLedger = { claim: () => new Promise(() => undefined), settle: async () => false };
  const client = new Client({ apiKey: "key", baseUrl: "http://127.0.0.1:1", ledger: hanging }, { clock });
  const sent = client.emails.send(email, { once: "1" }).catch((error: unknown) => error);
  await turn();
  const before = clock.now();
  await clock.until(client.close({ graceMs: 0 }));
  expect(clock.now() - before).toBe(1_000);
  expect(await sent).toMatchObject({ code: "connection_failed", outcome: "not-applied" });
});
