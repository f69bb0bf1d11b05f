import { tracingChannel } from "node:diagnostics_channel";
import { inspect } from "node:util";
import { afterEach, expect, test } from "vitest";
import { Client, type ClientOptions, type LogLevel } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

// Known values, driven through every method; then every output is searched for them.
const key = "canary-key-7f3a";
const address = "canary.address@example.com";
const name = "Canary Nameson";

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
  sandbox.fail({ operation: "contacts.update", with: "wrong-types" });
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
  expect(logged).toContain("will retry");
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
