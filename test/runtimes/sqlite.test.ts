import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/index.ts";
import { run, scratch } from "../package/support/scratch.ts";
import { blocksOf } from "../support/docs-blocks.ts";
import { root } from "../support/programs.ts";
import { runtimes } from "./install.ts";

const countRows = `
import { DatabaseSync } from "node:sqlite";
const rows = new DatabaseSync("contacts.db").prepare("SELECT id, email FROM contacts ORDER BY id").all();
console.log(JSON.stringify(rows));
`;

const node24 = runtimes.find(({ name }) => name === "Node 24")?.command[0] ?? "";

test("the ledger and the checkpoint keep their rules in SQLite, on Node 24", async () => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { code, stdout } = await run(
    node24,
    [vitest, "run", "--config", "test/runtimes/sqlite.config.ts"],
    root,
  );
  expect(code, stdout).toBe(0);
  expect(Number(/Tests +(\d+) passed/.exec(stdout)?.[1])).toBeGreaterThan(25);
});

const sender = `
import { DatabaseSync } from "node:sqlite";
import { Client } from "touchpoint-sdk";
import { migration, sqlLedger } from "touchpoint-sdk/sql";
const database = new DatabaseSync("keys.db");
database.exec("PRAGMA busy_timeout = 5000");
database.exec(migration("sqlite"));
const ledger = sqlLedger((sql, params) => database.prepare(sql).all(...params), { dialect: "sqlite" });
const client = new Client({ ledger, limits: false });
for (let key = 0; key < 30; key += 1)
  await client.emails
    .send({ to: "ada@example.com", subject: "k" + key, text: "Hello" }, { once: "k" + key })
    .catch((error) => { if (error.code !== "once_pending") throw error; });
await client.close();
`;

test("the program of the guide sends its email once over two runs, on Node 24", async () => {
  const project = await scratch([]);
  const sandbox = createSandbox({ apiKeys: ["key"] });
  const server = await sandbox.listen();
  try {
    const guide = await readFile(join(root, "docs/guide/sql.md"), "utf8");
    const program = blocksOf(guide).find(({ language }) => language === "js");
    await project.write("once.mjs", program?.code ?? "");
    const env = { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: "key" };
    for (const _run of [1, 2]) {
      const { code, stderr } = await run(node24, ["once.mjs"], project.folder, env);
      expect(code, stderr).toBe(0);
    }
    expect(sandbox.state.emails.map(({ subject }) => subject)).toEqual(["Welcome"]);
  } finally {
    await server.close();
    await project.remove();
  }
});

test("three processes on one SQLite file send each email once, on Node 24", async () => {
  const project = await scratch([]);
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const server = await sandbox.listen();
  try {
    await project.write("sender.mjs", sender);
    const env = { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: "key" };
    const lives = [1, 2, 3].map(() => run(node24, ["sender.mjs"], project.folder, env));
    for (const { code, stderr } of await Promise.all(lives)) expect(code, stderr).toBe(0);
    const subjects = sandbox.state.emails.map(({ subject }) => subject);
    expect([subjects.length, new Set(subjects).size]).toEqual([30, 30]);
  } finally {
    await server.close();
    await project.remove();
  }
});

test("examples/incremental-sqlite.mjs keeps a copy of every contact on Node 24", async () => {
  const project = await scratch([]);
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  sandbox.seedContacts(450);
  const server = await sandbox.listen();
  const environment = { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: "key" };
  const printed = async (file: string): Promise<unknown> => {
    const { stdout, stderr, code } = await run(node24, [file], project.folder, environment);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const example = "incremental-sqlite.mjs";
  try {
    await cp(join(root, "examples", example), join(project.folder, example));
    await project.write("rows.mjs", countRows);
    expect(await printed(example)).toEqual({ added: 450, changed: 0, removed: 0 });
    const [first, second] = sandbox.state.contacts;
    sandbox.removeContact(first?.id ?? "");
    sandbox.removeContact(second?.id ?? "");
    sandbox.addContact({ email: "new@example.com" });
    expect(await printed(example)).toEqual({ added: 1, changed: 0, removed: 2 });
    const contacts = sandbox.state.contacts.map(({ id, email }) => ({ id, email }));
    expect(await printed("rows.mjs")).toEqual(contacts.sort((a, b) => (a.id < b.id ? -1 : 1)));
  } finally {
    await server.close();
    await project.remove();
  }
});
