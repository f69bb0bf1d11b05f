import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readCsv, readNdjson, writeCsv, writeNdjson } from "../../src/files/index.ts";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const root = mkdtempSync(join(tmpdir(), "touchpoint-bad-"));
afterAll(() => rmSync(root, { recursive: true }));

const contacts = 800;

const workspace = (key: string) => {
  const sandbox = createSandbox({ apiKeys: [key], limits: false });
  sandbox.seedContacts(contacts, (at) => ({ email: `${key}${at}@example.com` }));
  const { fetch } = sandbox;
  return { sandbox, client: new Client({ apiKey: key, baseUrl: "http://localhost", fetch, limits: false }) };
};
type Workspace = ReturnType<typeof workspace>;

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};
const rowsOf = (name: string) => Array.from({ length: 300 }, (_, at) => `${name}${at}@example.com`);

/** A run that keeps its state in `state`; `isOther`: with another input or query. */
interface Kind {
  readonly run: (client: Client, state: string, isOther?: boolean) => Promise<unknown>;
  /** What ends the first run; undefined where a complete one leaves its state. */
  readonly fault?: {
    readonly operation: "events.recordBatch" | "contacts.create" | "contacts.list";
    nth: number;
  };
  /** The emails that all runs together have processed. */
  readonly processed: (ours: Workspace, state: string) => Promise<readonly string[]>;
  readonly expected: (ours: Workspace) => readonly string[];
}

const emailsIn = ({ sandbox }: Workspace): string[] => sandbox.state.contacts.map(({ email }) => email);

const writing = (
  write: typeof writeCsv | typeof writeNdjson,
  read: typeof readCsv | typeof readNdjson,
): Kind => ({
  run: (client, state, isOther) =>
    write(`${state}.out`, client.contacts.list(isOther ? { search: "ours1" } : {}), { checkpoint: state }),
  fault: { operation: "contacts.list", nth: 3 },
  processed: async (_, state) =>
    (await all(read<{ email: string }>(`${state}.out`))).map(({ email }) => email),
  expected: emailsIn,
});

const kinds = {
  ingest: {
    run: (client, checkpoint, isOther) =>
      client.events.ingest(
        rowsOf(isOther ? "y" : "x").map((email) => ({ name: "signed.up", contact: { email } })),
        { checkpoint, concurrency: 1 },
      ),
    fault: { operation: "events.recordBatch", nth: 3 },
    processed: async ({ sandbox }) => sandbox.state.events.map(({ contactId }) => contactId ?? ""),
    expected: ({ sandbox }) => sandbox.state.contacts.slice(contacts).map(({ id }) => id),
  },
  import: {
    run: (client, checkpoint, isOther) =>
      client.contacts.import(
        rowsOf(isOther ? "y" : "x").map((email) => ({ email })),
        { checkpoint, concurrency: 1 },
      ),
    fault: { operation: "contacts.create", nth: 100 },
    processed: async (ours) => emailsIn(ours).slice(contacts),
    expected: () => rowsOf("x"),
  },
  "export to CSV": writing(writeCsv, readCsv),
  "export to NDJSON": writing(writeNdjson, readNdjson),
  changes: {
    run: (client, since, isOther) =>
      all(client.contacts.changes({ snapshot: since, ...(isOther && { search: "ours1" }) })),
    processed: async ({ client }, since) =>
      (await all(client.contacts.changes({ snapshot: since }))).map(({ kind }) => kind),
    expected: () => [],
  },
} satisfies Record<string, Kind>;

const damages = {
  "of another workspace": undefined,
  "of another input or query": undefined,
  "of a newer version": (bytes: Buffer) =>
    Buffer.from(bytes.toString("latin1").replace('"version":1', '"version":2'), "latin1"),
  "cut short": (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1),
  "of something else": () => Buffer.from('{"lastId":"4711"}\n'),
} as const;

/** What each error says, and what it says to do. */
const told: Readonly<Record<keyof typeof damages, RegExp>> = {
  "of another workspace": /(another workspace).*([Tt]o start over)/,
  "of another input or query": /another (input|query).*(use that|to start over)/i,
  "of a newer version": /newer .*Update touchpoint-sdk here to use it\. To start over, delete/,
  "cut short": /(cut short|damaged).*[Tt]o start over( instead)?, delete/,
  "of something else": /(damaged|something else|no checkpoint)/,
};

const cases = Object.entries<Kind>(kinds).flatMap(([name, kind]) =>
  Object.entries(damages).map(([what, damage]) => ({
    name,
    kind,
    what: what as keyof typeof damages,
    damage,
  })),
);

test.each(cases)("a state of $name $what is refused by its name, and nothing is lost", async (given) => {
  const { name, kind, what, damage } = given;
  const folder = join(root, `${name} ${what}`);
  mkdirSync(folder);
  const state = join(folder, "state");
  const ours = workspace("ours");
  const fault = kind.fault && ours.sandbox.fail({ ...kind.fault, times: 999, with: { status: 403 } });
  if (fault === undefined) await kind.run(ours.client, state);
  else await expect(kind.run(ours.client, state)).rejects.toMatchObject({ name: "PermissionDeniedError" });
  fault?.remove();

  const whole = readFileSync(state);
  if (damage !== undefined) writeFileSync(state, damage(whole));
  const files = () => readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")]);
  const before = files();
  const used = what === "of another workspace" ? workspace("theirs") : ours;
  const sent = used.sandbox.state.requests.length;
  const isOther = what === "of another input or query";
  await expect(kind.run(used.client, state, isOther)).rejects.toMatchObject({
    name: "ConfigurationError",
    message: expect.stringMatching(told[what]),
  });
  await expect(kind.run(used.client, state, isOther)).rejects.toThrow(state);
  expect(files()).toEqual(before);
  expect(used.sandbox.state.requests.slice(sent).filter(({ method }) => method !== "GET")).toEqual([]);

  // Put right, it goes on to the end.
  writeFileSync(state, whole);
  if (name !== "changes") await kind.run(ours.client, state);
  expect(await kind.processed(ours, state)).toEqual(kind.expected(ours));
});
