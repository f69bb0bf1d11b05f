import { Readable } from "node:stream";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import { Client } from "../../src/index.ts";
import { systemClock } from "../../src/runtime/clock.ts";

const options = { apiKey: "key", baseUrl: "http://localhost", limits: false } as const;
afterEach(() => void vi.unstubAllGlobals());

const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
const sent = { id: "m1", to: email.to };

const failing = (error: unknown, requests: string[]) => async (url: string) => {
  requests.push(url);
  if (requests.length === 1) throw error;
  return Response.json(sent);
};

test.each(["EHOSTUNREACH", "EPROTO", "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "ECONNRESET"])(
  "a fetch that fails with %s does not prove that an email never left",
  async (code) => {
    const requests: string[] = [];
    const cause = Object.assign(new Error("broken off"), { code });
    const client = new Client({
      ...options,
      fetch: failing(new TypeError("fetch failed", { cause }), requests),
    });
    await expect(client.emails.send(email)).rejects.toMatchObject({ outcome: "unknown" });
    expect(requests).toHaveLength(1);
  },
);

const withoutWaits = { clock: { ...systemClock, sleep: async () => undefined } };
const refusals: readonly (readonly [string, unknown])[] = [
  [
    "no way there",
    new TypeError("fetch failed", {
      cause: Object.assign(new Error("no route"), { code: "EHOSTUNREACH", syscall: "connect" }),
    }),
  ],
  [
    "a refusal of another realm",
    runInNewContext(
      'new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) })',
    ),
  ],
];

test.each(refusals)(
  "of the global fetch, %s proves that an email never left: it is sent",
  async (_what, error) => {
    const requests: string[] = [];
    vi.stubGlobal("fetch", failing(error, requests));
    const client = new Client({ ...options, fetch: globalThis.fetch }, withoutWaits);
    expect(await client.emails.send(email)).toMatchObject(sent);
    expect(requests).toHaveLength(2);
  },
);

test.each(refusals)("of a fetch that may have tried before, %s proves nothing", async (_what, error) => {
  const requests: string[] = [];
  const client = new Client({ ...options, fetch: failing(error, requests) }, withoutWaits);
  await expect(client.emails.send(email)).rejects.toMatchObject({
    name: "ConnectionError",
    outcome: "unknown",
    message: expect.stringContaining("no response from localhost"),
  });
  expect(requests).toHaveLength(1);
});

test("a compressed response that a fetch returns empty counts as broken, and is requested again", async () => {
  let requests = 0;
  const headers = { "content-encoding": "br", "transfer-encoding": "chunked" };
  const fetch = async () => {
    requests += 1;
    return requests === 1 ? new Response("", { headers }) : Response.json({ data: [], total: 0 });
  };
  const client = new Client(
    { ...options, fetch },
    { clock: { ...systemClock, sleep: async () => undefined } },
  );
  expect(await client.contacts.list()).toMatchObject({ total: 0 });
  expect(requests).toBe(2);
});

test("a fetch that answers without a status does not prove that an email never left", async () => {
  const nameless = { type: "default", status: Number.NaN, headers: new Headers(), body: null };
  for (const response of [Response.error(), nameless]) {
    const client = new Client({ ...options, fetch: async () => response });
    await expect(client.emails.send(email)).rejects.toMatchObject({
      code: "connection_failed",
      outcome: "unknown",
    });
  }
});

test("a fetch that rejects with no Error fails the call, and nothing else", async () => {
  const cyclic = new Error("around");
  cyclic.cause = cyclic;
  const hostile = new Proxy(new Error("mine"), {
    get: () => {
      throw new Error("keep out");
    },
  });
  for (const reason of [Object.create(null), cyclic, hostile, "text", undefined]) {
    const client = new Client({ ...options, maxRetries: 0, fetch: () => Promise.reject(reason) });
    await expect(client.contacts.list()).rejects.toMatchObject({ code: "connection_failed" });
  }
});

test("a body that is a stream of Node is read, as node-fetch has it", async () => {
  const fetch = async () => {
    const { status, headers } = Response.json(sent);
    return { type: "default", status, headers, body: Readable.from([Buffer.from(JSON.stringify(sent))]) };
  };
  const client = new Client({ ...options, fetch: fetch as never });
  expect(await client.emails.send(email)).toMatchObject({ id: "m1" });
});
