import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { writeCsv, writeNdjson } from "../../src/files/index.ts";
import { Client, ConfigurationError, ResponseValidationError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const folder = mkdtempSync(join(tmpdir(), "touchpoint-foreign-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A workspace, and a client with its key. */
const workspace = (key: string, apiKey: string | (() => string) = key) => {
  const sandbox = createSandbox({ apiKeys: [key], limits: false });
  const { fetch } = sandbox;
  return { sandbox, client: new Client({ apiKey, baseUrl: "http://localhost", fetch, limits: false }) };
};

const emails = Array.from({ length: 600 }, (_, at) => `p${at}@example.com`);
const runs = {
  ingest: (client: Client, checkpoint: string) =>
    client.events.ingest(
      emails.map((email) => ({ id: email, name: "signed.up", contact: { email } })),
      { checkpoint, concurrency: 1 },
    ),
  import: (client: Client, checkpoint: string) =>
    client.contacts.import(
      emails.map((email) => ({ email })),
      { checkpoint, concurrency: 1 },
    ),
} as const;
/** What fails after some batches. */
const faults = {
  ingest: { operation: "events.recordBatch", nth: 3 },
  import: { operation: "contacts.create", nth: 200 },
} as const;

describe.each(["ingest", "import"] as const)("a checkpoint of %s that another key has saved", (kind) => {
  const stopped = async (name: string, given?: () => string) => {
    const checkpoint = join(folder, `${kind}-${name}.json`);
    const { client, sandbox } = workspace("ours", given);
    const fault = sandbox.fail({ ...faults[kind], times: 999, with: { status: 403 } });
    await expect(runs[kind](client, checkpoint)).rejects.toMatchObject({ name: "PermissionDeniedError" });
    fault.remove();
    return { checkpoint, client, saved: readFileSync(checkpoint, "utf8") };
  };

  test("is refused before anything is sent, and kept", async () => {
    const { checkpoint, saved } = await stopped("kept");
    const { client, sandbox } = workspace("theirs");
    const error = await runs[kind](client, checkpoint).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /saved with another API key.*remove "key".*To start over, delete the checkpoint/,
      ),
    });
    expect([sandbox.state.requests, readFileSync(checkpoint, "utf8")]).toEqual([[], saved]);
    expect(saved).not.toContain("ours");
  });

  test('continues with the same key, and with a new key of the workspace once "key" is removed', async () => {
    const { checkpoint, client, saved } = await stopped("same");
    const { key, ...state } = JSON.parse(saved);
    expect(key).toMatch(/^[0-9a-f]{16}$/);
    expect((await runs[kind](client, checkpoint)).skipped).toBe(state.done);
    writeFileSync(checkpoint, JSON.stringify(state));
    expect((await runs[kind](workspace("new").client, checkpoint)).skipped).toBe(state.done);
  });

  test("of a function cannot be told apart", async () => {
    const { checkpoint, saved } = await stopped("function", () => "ours");
    expect(JSON.parse(saved).key).toBe(undefined);
    expect((await runs[kind](workspace("new").client, checkpoint)).skipped).toBeGreaterThan(0);
  });
});

test.each([
  ["csv", writeCsv],
  ["ndjson", writeNdjson],
] as const)(
  "an export to %s does not go on in another workspace, and loses nothing",
  async (ending, write) => {
    const out = join(folder, `all.${ending}`);
    const checkpoint = `${out}.json`;
    const ours = workspace("ours");
    ours.sandbox.seedContacts(800, () => ({ notes: "x".repeat(100) }));
    ours.sandbox.fail({ operation: "contacts.list", nth: 3, times: 999, with: { status: 403 } });
    await expect(write(out, ours.client.contacts.list(), { checkpoint })).rejects.toThrow("403");
    const left = () =>
      readdirSync(folder)
        .filter((name) => name.startsWith(`all.${ending}`))
        .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
    const before = left();
    expect(before.map(([name]) => name)).toEqual([
      expect.stringMatching(/\.json$/),
      expect.stringMatching(/\.partial$/),
    ]);
    for (const contacts of [800, 100, 0]) {
      const theirs = workspace("theirs");
      theirs.sandbox.seedContacts(contacts);
      const error = await write(out, theirs.client.contacts.list(), { checkpoint }).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({
        message: `checkpoint ${checkpoint} does not match the list. Either the list belongs to another workspace, or the contacts that were read last have all been deleted. To start over, delete the checkpoint`,
      });
      expect(left()).toEqual(before);
    }
  },
);

test.each([
  ["a page that is not JSON", "garbage", "warn", "not JSON"],
  ["a page with an invalid contact", "missing-fields", "strict", "the response is invalid"],
] as const)(
  "an export that continues ends with its own error at %s",
  async (_, fault, responseValidation, message) => {
    const out = join(folder, `${fault}.ndjson`);
    const checkpoint = `${out}.json`;
    const { sandbox, client } = workspace("ours");
    sandbox.seedContacts(800);
    sandbox.fail({ operation: "contacts.list", nth: 3, with: { status: 403 } });
    await expect(writeNdjson(out, client.contacts.list(), { checkpoint })).rejects.toThrow("403");
    const again = client.withOptions({ responseValidation, maxRetries: 0 });
    sandbox.fail({ operation: "contacts.list", times: 999, with: fault });
    const error = await writeNdjson(out, again.contacts.list(), { checkpoint }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
  },
);
