import { tracingChannel } from "node:diagnostics_channel";
import { expect, test } from "vitest";
import { Client, PermissionDeniedError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

/** A list of a service whose key is revoked from the request of this operation with this number on, counted from 1. */
const revokedFrom = async (operation: string, nth: number) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const options = { apiKey: "key", baseUrl: "https://service.test", fetch: sandbox.fetch };
  const client = new Client({ ...options, limits: false });
  const { id } = await client.lists.create({ name: "all" });
  sandbox.fail({ operation, nth, times: 9, with: { status: 401 } });
  return { client, id };
};

const contacts = (count: number) => Array.from({ length: count }, (_, at) => ({ email: `p${at}@x.example` }));
const addresses = contacts(1_001).map(({ email }) => email);
const events = contacts(101).map((contact) => ({ name: "seen", contact }));
const one = { concurrency: 1 };

test.each([
  ["lists.addContacts", (client: Client, id: string) => client.lists.addContacts(id, addresses)],
  ["lists.removeContacts", (client: Client, id: string) => client.lists.removeContacts(id, addresses)],
  ["events.recordBatch", (client: Client) => client.events.recordBatch(events)],
  ["events.recordBatch", (client: Client) => client.events.ingest(events, one)],
  ["contacts.create", (client: Client) => client.contacts.import(contacts(2), one)],
])(
  "%s refused at the second request has an unknown outcome, at the first none: case %#",
  async (operation, run) => {
    const code = "authentication_failed";
    const later = await revokedFrom(operation, 2);
    await expect(run(later.client, later.id)).rejects.toMatchObject({ code, outcome: "unknown" });
    const first = await revokedFrom(operation, 1);
    await expect(run(first.client, first.id)).rejects.toMatchObject({ code, outcome: "not-applied" });
  },
);

test("an import that only looked contacts up before it failed had no effect", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  sandbox.seedContacts(1_000);
  sandbox.fail({ operation: "contacts.create", with: { status: 403 } });
  const client = new Client({ apiKey: "key", baseUrl: "https://service.test", fetch: sandbox.fetch });
  await expect(client.contacts.import(contacts(1))).rejects.toMatchObject({
    code: "permission_denied",
    outcome: "not-applied",
  });
});

test("the error of a call with several requests is a new error with everything from the refusal", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "https://service.test", fetch: sandbox.fetch });
  const { id } = await client.lists.create({ name: "all" });
  const body = { error: "n".repeat(3_000) };
  sandbox.fail({ operation: "lists.addContacts", nth: 2, times: 9, with: { status: 403, body } });
  const seen: unknown[] = [];
  const onError = (message: unknown) => seen.push(Reflect.get(Object(message), "error"));
  const calls = tracingChannel("touchpoint:call");
  calls.error.subscribe(onError);
  const error = await client.lists.addContacts(id, addresses).catch((reason: unknown) => reason);
  calls.error.unsubscribe(onError);
  expect(seen).toEqual([error]);
  expect(error).toBeInstanceOf(PermissionDeniedError);
  expect(error).toMatchObject({
    ...{ outcome: "unknown", status: 403, body, operation: "lists.addContacts", attempts: 1 },
    hint: expect.stringContaining("lists:write"),
    message: expect.stringMatching(/n{2000}… \(3000 characters\)$/),
    partial: { done: addresses.slice(0, 1_000) },
  });
});
