import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readCsv } from "../../src/files/index.ts";
import { createSandbox, type Listening, type Sandbox } from "../../src/sandbox/index.ts";
import { startCli } from "../support/cli.ts";

const key = "tp_two_runs";
let folder = "";
let sandbox: Sandbox;
let server: Listening;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "touchpoint-two-"));
  // Slow enough that two processes that start together also work together.
  sandbox = createSandbox({ apiKeys: [key], limits: false, latencyMs: 80 });
  server = await sandbox.listen();
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const at = (name: string): string => join(folder, name);

/** Starts the same command in two processes at once. One does the work, the other ends with an error that says why. */
const runTwice = async (...args: readonly string[]) => {
  const env = { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: key };
  const runs = [1, 2].map(() => startCli(args, { cwd: folder, env }));
  const endings = await Promise.all(runs.map(({ ended }) => ended));
  const [done, failed] = endings.sort((a, b) => Number(a.ended) - Number(b.ended));
  expect([done?.ended, failed?.ended]).toEqual([0, 1]);
  expect(failed?.stderr).toMatch(/another run/);
  return done;
};

const sorted = (texts: readonly unknown[]): string[] => texts.map(String).sort();

test("two exports with one checkpoint: the file is complete", async () => {
  sandbox.seedContacts(3_000);
  await runTwice("contacts", "export", "--out", "all.csv", "--checkpoint", "export.checkpoint");
  const ids: unknown[] = [];
  for await (const { id } of readCsv(at("all.csv"))) ids.push(id);
  expect(sorted(ids)).toEqual(sorted(sandbox.state.contacts.map(({ id }) => id)));
});

test("two imports with one checkpoint: each contact is there once, as its row says", async () => {
  const rows = Array.from({ length: 60 }, (_, n) => `p${n}@example.com,Person ${n}`);
  await writeFile(at("in.csv"), `email,name\n${rows.join("\n")}\n`);
  await runTwice("contacts", "import", "in.csv", "--checkpoint", "import.checkpoint", "--concurrency", "1");
  expect(sorted(sandbox.state.contacts.map(({ email, name }) => `${email},${name}`))).toEqual(sorted(rows));
});

test("two ingestions with one checkpoint: each event is recorded once", async () => {
  const events = Array.from({ length: 200 }, (_, n) => ({
    name: "order.placed",
    contact: { email: `p${n}@x.io` },
  }));
  await writeFile(at("in.ndjson"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  await runTwice("events", "ingest", "in.ndjson", "--checkpoint", "ingest.checkpoint");
  expect(sandbox.state.events).toHaveLength(events.length);
  expect(JSON.parse(await readFile(at("ingest.checkpoint"), "utf8")).done).toBe(events.length);
});

test("two passes of changes on one snapshot: the snapshot stays valid, and the next pass reports removals", async () => {
  sandbox.seedContacts(2_000);
  await runTwice("contacts", "changes", "--snapshot", "contacts.snapshot");
  const [removed] = sandbox.state.contacts.map(({ id }) => id);
  sandbox.removeContact(removed ?? "");
  const done = await runTwice("contacts", "changes", "--snapshot", "contacts.snapshot");
  const changes = (done?.stdout ?? "")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(changes).toEqual([{ kind: "removed", id: removed }]);
  expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
