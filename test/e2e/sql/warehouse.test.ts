// Needs the program: psql
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { program as cli } from "../../support/cli.ts";
import { PostgresServer, poolOf } from "../../support/postgres-server.ts";
import { compile, root } from "../../support/programs.ts";

const [changes = ""] = await compile("warehouse", [`${root}examples/warehouse/changes-to-postgres.ts`]);

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 60_000);
afterAll(() => server.stop());

const run = promisify(execFile);

/** A service with some contacts, an empty database, and a folder for a program that uses both. */
const warehouse = async (count: number) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const contacts = Array.from({ length: count }, (_, at) =>
    sandbox.addContact({ email: `p${at}@example.com`, name: `Ada, "${at}"` }),
  );
  const service = await sandbox.listen();
  const folder = await mkdtemp(join(tmpdir(), "touchpoint-warehouse-"));
  const pool = poolOf(server.url);
  await pool.query("DROP TABLE IF EXISTS contacts");
  onTestFinished(async () => {
    await Promise.all([pool.end(), service.close(), rm(folder, { recursive: true })]);
  });
  const access = { TOUCHPOINT_BASE_URL: service.url, TOUCHPOINT_API_KEY: "key", DATABASE_URL: server.url };
  return { sandbox, contacts, pool, folder, env: { ...process.env, ...access } };
};

test("the pipe of the guide copies every contact into PostgreSQL", async () => {
  const { contacts, sandbox, pool, folder, env } = await warehouse(450);
  // What `npx touchpoint` is in a project.
  const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${cli}" "$@"\n`;
  await writeFile(join(folder, "npx"), npx, { mode: 0o755 });
  const guide = await readFile(`${root}docs/guide/warehouse.md`, "utf8");
  const [, commands = ""] = /```sh\n([\s\S]+?)```/.exec(guide) ?? [];
  await run("sh", ["-ec", commands], { cwd: folder, env: { ...env, PATH: `${folder}:${process.env.PATH}` } });
  const { rows } = await pool.query("SELECT id, email FROM contacts ORDER BY id");
  const wanted = contacts.map(({ id, email }) => ({ id, email }));
  expect(rows).toEqual(wanted.sort((a, b) => (a.id < b.id ? -1 : 1)));
  // One request for every 200, as the guide says.
  expect(sandbox.state.requests).toHaveLength(3);
});

test("changes and removals reach PostgreSQL, and a second run sends only the guide's 3 requests", async () => {
  const { contacts, sandbox, pool, folder, env } = await warehouse(450);
  const apply = async (): Promise<unknown> => {
    const { stdout } = await run(process.execPath, [changes], { cwd: folder, env });
    return JSON.parse(stdout);
  };
  expect(await apply()).toEqual({ added: 450, changed: 0, removed: 0 });
  const [first, second] = contacts;
  if (first === undefined || second === undefined) throw new Error("there are contacts");
  sandbox.removeContact(first.id);
  await using client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  await client.contacts.update(second.id, { name: "Grace" });
  const before = sandbox.state.requests.length;
  expect(await apply()).toEqual({ added: 0, changed: 1, removed: 1 });
  expect(sandbox.state.requests.length - before).toBe(3);
  const { rows } = await pool.query("SELECT id, contact FROM contacts");
  expect(new Map(rows.map(({ id, contact }) => [id, contact.name])).get(second.id)).toBe("Grace");
  expect(rows.map(({ id }) => id).sort()).toEqual(
    contacts
      .map(({ id }) => id)
      .filter((id) => id !== first.id)
      .sort(),
  );
});
