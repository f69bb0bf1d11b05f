import { execFile } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSandbox, type Listening, type Sandbox } from "../../src/sandbox/index.ts";
import { type CliRun, program, startCli } from "../support/cli.ts";

const key = "tp_live_canary";
const contacts = 300;
const changes = ["contacts", "changes", "--snapshot", "contacts.snapshot"];
const plan = ["contacts", "import", "people.csv", "--plan"];
let folder = "";
let sandbox: Sandbox;
let server: Listening;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "touchpoint-cli-output-"));
  sandbox = createSandbox({ apiKeys: [key] });
  server = await sandbox.listen();
  for (let at = 0; at < contacts; at += 1)
    // A page of them is more than a pipe holds.
    sandbox.addContact({ email: `p${at}@example.com`, notes: "n".repeat(2_000) });
  await writeFile(join(folder, "people.csv"), "email\nada@example.com\n");
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const env = () => ({ TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: key });
const start = (args: readonly string[], stdout?: number): CliRun =>
  startCli(args, { cwd: folder, env: env(), ...(stdout !== undefined && { stdout }) });

test("contacts changes: the next run writes what the reader of the first run did not read", async () => {
  const script = '{ "$@"; echo "$?" > code; } | head -n 1; cat code';
  const command = ["sh", process.execPath, program, ...changes];
  const shell = { cwd: folder, env: { ...process.env, ...env() }, encoding: "utf8" } as const;
  const cut = await promisify(execFile)("sh", ["-c", script, ...command], shell);
  const [first, code] = cut.stdout.trimEnd().split("\n");
  expect([JSON.parse(first ?? ""), code]).toMatchObject([{ kind: "added" }, "141"]);
  const { ended, stdout } = await start(changes).ended;
  expect([ended, stdout.trimEnd().split("\n").length]).toEqual([0, contacts]);
});

const commands = [
  [changes],
  [plan],
  [["contacts", "export", "--out", "-"]],
  [["--help"]],
  [["sandbox", "--port", "0"]],
];

test.each(commands)("%j ends with 141 when its reader leaves", async (args) => {
  const cut = start(args);
  cut.process.stdout?.destroy();
  expect(await cut.ended).toMatchObject({ ended: 141, stderr: expect.not.stringContaining("touchpoint:") });
});

test.each(commands)("%j reports a full disk", async (args) => {
  const full = openSync("/dev/full", "w");
  const { ended, stderr } = await start(args, full).ended;
  closeSync(full);
  expect(ended).toBe(1);
  expect(stderr).toMatch(
    /^(\d+ .*\n)*touchpoint: standard output cannot be written: ENOSPC: no space left on device, write\n$/,
  );
});

test("an import whose report nobody reads ends with its own error", async () => {
  sandbox.fail({ operation: "contacts.create", with: { status: 403 } });
  await writeFile(join(folder, "people.csv"), "email\nada@example.com\n");
  const cut = start(["contacts", "import", "people.csv"]);
  cut.process.stdout?.destroy();
  expect(await cut.ended).toMatchObject({ ended: 1, stderr: expect.stringContaining("touchpoint: ") });
});
