import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type CallOptions, Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const scene = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  return { sandbox, client };
};

const folder = mkdtempSync(join(tmpdir(), "options-"));
afterAll(() => rmSync(folder, { recursive: true }));

const reason = new Error("aborted");
const signal = AbortSignal.abort(reason);

class Options {
  get signal() {
    return signal;
  }
}

const email = { to: "ada@example.com", subject: "Hi", text: "Hello" };
const contact = { email: "ada@example.com" };
const event = { name: "signed.up", contact };

const calls: Readonly<Record<string, (client: Client, options: CallOptions) => PromiseLike<unknown>>> = {
  create: (client, options) => client.contacts.create(contact, options),
  list: (client, options) => client.contacts.list({}, options),
  "list, iterated": (client, options) => client.contacts.list({}, options)[Symbol.asyncIterator]().next(),
  "list, as an array": (client, options) => client.contacts.list({}, options).toArray(),
  find: (client, options) => client.contacts.find("ada@example.com", options),
  update: (client, options) => client.contacts.update("id", { name: "Ada" }, options),
  upsert: (client, options) => client.contacts.upsert(contact, options),
  import: (client, options) => client.contacts.import([contact], options),
  changes: (client, options) =>
    client.contacts
      .changes(Object.create(options, { snapshot: { value: join(folder, "contacts.snapshot") } }))
      .pages()
      .next(),
  members: (client, options) => client.lists.members("id", options)[Symbol.asyncIterator]().next(),
  addContacts: (client, options) => client.lists.addContacts("id", ["ada@example.com"], options),
  record: (client, options) => client.events.record(event, options),
  recordBatch: (client, options) => client.events.recordBatch([event], options),
  ingest: (client, options) => client.events.ingest([event], options),
  send: (client, options) => client.emails.send(email, options),
  "send once": (client, options) =>
    client.emails.send(email, Object.create(options, { once: { value: "key" } })),
  cancel: (client, options) => client.emails.scheduled.cancel("id", options),
  request: (client, options) => client.request({ method: "GET", path: "/api/v1/contacts" }, options),
};

test.each(Object.entries(calls))("%s obeys a signal that its options inherit", async (_name, call) => {
  for (const options of [Object.create({ signal }), new Options()]) {
    const { sandbox, client } = scene();
    await expect(call(client, options)).rejects.toBe(reason);
    expect(sandbox.state.counts.requests).toBe(0);
  }
});

test("an option that is an accessor is read once by each method", async () => {
  const reads: Record<string, number> = {};
  for (const [name, call] of Object.entries(calls)) {
    if (name.startsWith("changes") || name === "send once") continue;
    const { client } = scene();
    reads[name] = 0;
    const options = {
      get signal() {
        reads[name] = (reads[name] ?? 0) + 1;
        return signal;
      },
    };
    await Promise.resolve(call(client, options)).catch(() => undefined);
  }
  expect(reads).toEqual(Object.fromEntries(Object.keys(reads).map((name) => [name, 1])));
});
