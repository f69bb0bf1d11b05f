import { tracingChannel } from "node:diagnostics_channel";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, expect, test } from "vitest";
import { Client, type ClientOptions, type Fetch, type LogLevel } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

// Known values, driven through every method; then every output is searched for them.
const key = "canary-key-7f3a";
const address = "canary.address@example.com";
const name = "Canary Nameson";

const awkward = 'canary"/+\\key<7f3a';

const everything: object = { depth: 12, showHidden: true, getters: true };
const channels = ["touchpoint:call", "touchpoint:attempt"].map((channel) => tracingChannel(channel));
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const outputsOf = async (logLevel: LogLevel) => {
  const logged: unknown[] = [];
  const told: unknown[] = [];
  const keep =
    (list: unknown[]) =>
    (...values: unknown[]) =>
      void list.push(...values);
  // The error that a caller is handed goes to the subscribers too; what it says is the service's own sentence.
  const trace = (message: object) => {
    const { error: _error, ...rest }: { error?: unknown } = message;
    told.push({ ...rest });
  };
  const subscribers = { start: trace, end: trace, asyncStart: trace, asyncEnd: trace, error: trace };
  for (const channel of channels) {
    channel.subscribe(subscribers);
    cleanups.push(() => channel.unsubscribe(subscribers));
  }
  const log = keep(logged);
  const hook = keep(told);
  const sandbox = createSandbox({ apiKeys: [key], limits: false });
  const options: ClientOptions = {
    apiKey: key,
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
    maxRetries: 1,
    logger: { debug: log, info: log, warn: log, error: log },
    logLevel,
    hooks: { onRequest: hook, onResponse: hook, onRetry: hook, onWait: hook, onValidationIssue: hook },
  };
  const client = new Client(options);
  sandbox.fail({ operation: "contacts.list", with: { status: 503 } });
  const wrong = { id: 7, email: [address], name: { name } };
  sandbox.fail({ operation: "contacts.update", with: { status: 200, applied: true, body: wrong } });
  const { id } = await client.contacts.create({ email: address, name });
  const errors = [
    await client.contacts.create({ email: address, name }).catch((error: unknown) => error),
    await client.contacts.update(id, { name }).catch((error: unknown) => error),
  ];
  await client.contacts.find(address);
  await client.contacts.upsert({ email: address, name });
  await client.events.record({ name: "seen", contact: { email: address }, properties: { name } });
  await client.events.recordBatch([{ name: "seen", contact: { email: address } }]);
  await client.emails.send({ to: address, subject: name, text: name });
  await client.request({ method: "GET", path: "/api/v1/contacts", query: { search: address } });
  return { logged: inspect(logged, everything), told: inspect(told, everything), errors, client };
};

test("below debug, no log line, hook or trace holds the key, an address or a name", async () => {
  const { logged, told } = await outputsOf("info");
  expect(logged).toContain("retrying request");
  expect(told).toContain("contacts.list");
  for (const canary of [key, address, encodeURIComponent(address), name]) {
    expect(logged).not.toContain(canary);
    expect(told).not.toContain(canary);
  }
});

test("at debug the path may hold an address, and nothing ever holds the key", async () => {
  const { logged, told, errors, client } = await outputsOf("debug");
  expect(logged).toContain(encodeURIComponent(address));
  for (const output of [logged, told, inspect(errors, everything), inspect(client, everything)]) {
    expect(output).not.toContain(key);
  }
  expect(JSON.stringify([client, errors])).not.toContain(key);
});

/** Everything that shows of a call: its error, and what the hooks, the log and the subscribers were told. */
const shownBy = async (options: ClientOptions, act: (client: Client) => Promise<unknown>) => {
  const told: unknown[] = [];
  const keep = (...values: unknown[]): void => void told.push(...values);
  const subscribers = { start: keep, end: keep, asyncStart: keep, asyncEnd: keep, error: keep };
  for (const channel of channels) {
    channel.subscribe(subscribers);
    cleanups.push(() => channel.unsubscribe(subscribers));
  }
  const client = new Client({
    apiKey: key,
    baseUrl: "http://localhost",
    limits: false,
    maxRetries: 0,
    logger: { debug: keep, info: keep, warn: keep, error: keep },
    logLevel: "debug",
    hooks: { onRequest: keep, onResponse: keep, onRetry: keep, onWait: keep, onValidationIssue: keep },
    ...options,
  });
  const error = await act(client).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, shown: inspect([error, told], everything) + JSON.stringify([error, String(error), told]) };
};

const update = (client: Client) => client.contacts.update("c1", { name: "Ada" });
const authorizationOf = (init: RequestInit): string => new Headers(init.headers).get("authorization") ?? "";

/** A service that repeats what authorizes a request, in the way given. */
const echo = (answer: (authorization: string) => Response): Fetch => {
  return async (_url, init) => answer(authorizationOf(init));
};

test.each<[string, string, Fetch]>([
  ["a sentence", key, echo((key) => Response.json({ error: `no such key: ${key}` }, { status: 401 }))],
  ["a header", key, echo((key) => Response.json({}, { status: 400, headers: { "x-request": key } }))],
  ["a nested value", key, echo((sent) => Response.json({ a: [{ b: null, c: sent }] }, { status: 500 }))],
  ["a name", key, echo((sent) => Response.json({ a: { [sent]: 1 } }, { status: 400 }))],
  ["__proto__", key, echo((sent) => new Response(`{"__proto__":"${sent}"}`, { status: 400 }))],
  ["text", key, echo((sent) => new Response(`<p>${sent}</p>`, { status: 502 }))],
  ["JSON cut short", awkward, echo((sent) => new Response(`{"a":${JSON.stringify(sent)}`, { status: 500 }))],
  ["a URL", awkward, echo((sent) => new Response(`/login?t=${encodeURIComponent(sent)}`, { status: 403 }))],
  ["lower case", "Canary-KEY-7f3a", echo((sent) => new Response(sent.toLowerCase(), { status: 400 }))],
  ["a short key's header", "k7", echo((sent) => Response.json({ error: sent }, { status: 400 }))],
])("a key that the service repeats as %s is shown nowhere", async (_what, apiKey, fetch) => {
  const { error, shown } = await shownBy({ apiKey, fetch }, update);
  expect(error).toMatchObject({ outcome: expect.any(String), headers: expect.any(Headers) });
  const forms = [apiKey, JSON.stringify(apiKey).slice(1, -1), encodeURIComponent(apiKey)];
  for (const form of [...forms, inspect(apiKey).slice(1, -1), apiKey.toLowerCase()]) {
    expect(shown).not.toContain(form);
  }
});

test("text that is not the key stays unchanged", async () => {
  const body = { error: "no such key", fields: [{ name: "email", at: 3 }, null, true] };
  const { error } = await shownBy({ fetch: async () => Response.json(body, { status: 400 }) }, update);
  expect(error).toMatchObject({ message: "no such key", body });
});

test("an error's body may be nested to any depth", async () => {
  const text = `${"[".repeat(200_000)}"${key}"${"]".repeat(200_000)}`;
  const fetch = async () => new Response(text, { status: 400 });
  const error: unknown = await new Client({ apiKey: key, baseUrl: "http://localhost", fetch }).contacts
    .update("c1", { name: "Ada" })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "bad_request" });
});

test("a fetch's error is shown by its name, sentence, stack and code only", async () => {
  const fetch: Fetch = async (url, init) => {
    const inner = Object.assign(new RangeError(`sent ${authorizationOf(init)} to ${url}`), {
      code: "E_MINE",
      config: { headers: init.headers },
      request: init,
    });
    throw Object.assign(new Error("fetch failed", { cause: inner }), { options: init });
  };
  const { error, shown } = await shownBy({ fetch }, update);
  expect(shown).not.toContain(key);
  expect(error).toMatchObject({
    code: "connection_failed",
    cause: {
      name: "RangeError",
      code: "E_MINE",
      message: "sent Bearer [redacted] to http://localhost/api/v1/contacts/c1",
    },
  });
  const { cause }: { cause?: unknown } = Object(error);
  expect(Object.keys(Object(cause))).toEqual(["code"]);
  expect(inspect(cause)).toContain("canary.test.ts");
});

test("other properties of the error of a fetch or a dispatcher are dropped", async () => {
  const hung = (request: object) => Object.assign(new Error("mine"), { code: "E_MINE", config: { request } });
  const fetch: Fetch = async (_url, init) => Promise.reject(hung(init));
  const throwing = {
    dispatch: (options: object): boolean => {
      throw hung(options);
    },
  };
  const failing = {
    dispatch: (options: object, handler: { onResponseError?: (_: unknown, error: Error) => void }) => {
      handler.onResponseError?.({}, hung(options));
      return true;
    },
  };
  for (const options of [{ fetch }, { dispatcher: throwing }, { dispatcher: failing }]) {
    const { error, shown } = await shownBy(options, update);
    expect(error).toMatchObject({ code: "connection_failed", cause: { message: "mine", code: "E_MINE" } });
    expect(shown).not.toContain(key);
  }
});

test("a garbled answer that repeats the key shows none", async () => {
  const server = createServer((request) =>
    request.socket.end(`HTTP/1.1 400 ${request.headers.authorization}\u0000\r\nbad header ${key}\r\n\r\n`),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  // A TCP server always has an address object.
  const { port } = server.address() as AddressInfo;
  const { error, shown } = await shownBy({ baseUrl: `http://127.0.0.1:${port}` }, update);
  expect(error).toMatchObject({ code: "connection_failed" });
  expect(shown).not.toContain(key);
});

test("an answer's issues that quote the key show none", async () => {
  const customFields = {
    "~standard": {
      version: 1,
      vendor: "mine",
      validate: (value: unknown) => ({
        issues: Object.keys(Object(value)).map((field) => ({ message: "unknown", path: [field] })),
      }),
    },
  } as const;
  const fetch = echo((sent) => Response.json({ id: "c1", email: address, customFields: { [sent]: 1 } }));
  for (const responseValidation of ["strict", "warn"] as const) {
    const { shown } = await shownBy({ fetch, customFields, responseValidation }, update);
    expect(shown).toContain("customFields.Bearer [redacted]");
    expect(shown).not.toContain(key);
  }
});

test("a failed event of a batch shows no key", async () => {
  const results = (sent: string) => [{ status: 400, error: `refused for ${sent}` }];
  const fetch = echo((sent) =>
    Response.json({ accepted: 0, rejected: 1, results: results(sent) }, { status: 207 }),
  );
  const client = new Client({ apiKey: key, baseUrl: "http://localhost", fetch });
  const report = await client.events.recordBatch([{ name: "seen", contact: { email: address } }]);
  expect(report.results).toMatchObject([{ status: 400, error: "refused for Bearer [redacted]" }]);
});

test("neither the old nor the new key of a renewal is shown", async () => {
  const keys = ["canary-old-key", "canary-new-key"];
  let asked = 0;
  const seen: string[] = [];
  const fetch: Fetch = async (_url, init) => {
    seen.push(authorizationOf(init));
    return Response.json({ error: `none of ${seen.join()}` }, { status: 401 });
  };
  const { error, shown } = await shownBy({ apiKey: () => keys[asked++] ?? "", fetch }, update);
  expect(seen).toEqual(keys.map((each) => `Bearer ${each}`));
  expect(error).toMatchObject({ message: "none of Bearer [redacted],Bearer [redacted]" });
  for (const each of keys) expect(shown).not.toContain(each);
});
