import { expect, test } from "vitest";
import { Client, ConfigurationError, ValidationError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const scene = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  return { sandbox, client };
};

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

test("a misspelt option of long work is refused, and nothing is read", async () => {
  const { client } = scene();
  await expect(client.events.ingest([], loose({ checkpont: "x" }))).rejects.toThrow(/no option "checkpont"/);
  await expect(client.contacts.import([], loose({ add_to_list: "x" }))).rejects.toThrow(
    /no option "add_to_list"/,
  );
  await expect(client.events.ingest([], loose({ checkpoint: 5, onRejected: 1 }))).rejects.toThrow(
    "events.ingest: checkpoint must be a path, or a store with load and save; onRejected must be a function",
  );
});

test.each([["events.ndjson"], [undefined], [5], [null]])("%j is no source of long work", async (source) => {
  const { sandbox, client } = scene();
  await expect(client.events.ingest(loose(source))).rejects.toBeInstanceOf(ValidationError);
  await expect(client.contacts.import(loose(source))).rejects.toBeInstanceOf(ValidationError);
  expect(sandbox.state.requests).toEqual([]);
});

test("a key for once in the wrong argument is refused: without it the email could go out twice", async () => {
  const { sandbox, client } = scene();
  const email = { to: "ada@example.com", subject: "Hi", text: "Hi", once: "welcome:1" };
  await expect(client.emails.send(loose(email))).rejects.toThrow(/once: belongs into the second argument/);
  const scheduled = { ...email, sendAt: "2030-01-01T00:00:00Z" };
  await expect(client.emails.schedule(loose(scheduled))).rejects.toThrow(
    /once: belongs into the second argument/,
  );
  expect(sandbox.state.requests).toEqual([]);
});

test("null in place of options stands for none", async () => {
  const { client } = scene();
  await client.contacts.create({ email: "ada@example.com" }, loose(null));
  expect(await client.contacts.list({}, loose(null)).toArray()).toHaveLength(1);
  expect(await client.contacts.list(loose(null)).toArray()).toHaveLength(1);
  expect(await client.events.ingest([], loose(null))).toMatchObject({ read: 0 });
  await client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hi" }, loose(null));
});

test.each([[null], ["key"], [5], [[]]])("a client cannot be made of %j", (options) => {
  expect(() => new Client(loose(options))).toThrow(ConfigurationError);
});
