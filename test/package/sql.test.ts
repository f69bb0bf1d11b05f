import { expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/index.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { run, scratch } from "./support/scratch.ts";

const program = `
import { Pool } from "pg";
import { Client } from "touchpoint-sdk";
import { migration, sqlCheckpoint, sqlLedger } from "touchpoint-sdk/sql";

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(migration("postgres"));
const query = async (sql, params) => (await pool.query(sql, [...params])).rows;
const client = new Client({ ledger: sqlLedger(query, { dialect: "postgres" }) });
const email = { to: "ada@example.com", subject: "Welcome", text: "Hello" };
const ids = [];
for (let run = 0; run < 2; run += 1) ids.push((await client.emails.send(email, { once: "welcome:42" })).id);
const events = Array.from({ length: 120 }, (_, n) => ({ name: "seen", contact: { email: "ada@example.com" }, properties: { n } }));
const checkpoint = sqlCheckpoint(query, { dialect: "postgres", id: "events" });
const reports = [];
for (let run = 0; run < 2; run += 1) reports.push(await client.events.ingest(events, { checkpoint }));
console.log(JSON.stringify({ same: ids[0] === ids[1], accepted: reports.map(({ accepted }) => accepted) }));
await client.close();
await pool.end();
`;

test("a project with pg as its only other package stores keys and checkpoints in PostgreSQL", async () => {
  const [server, project] = await Promise.all([PostgresServer.start(), scratch(["pg"])]);
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const service = await sandbox.listen();
  try {
    const ending = await project.node("main.mjs", program, {
      ...{ DATABASE_URL: server.url, TOUCHPOINT_BASE_URL: service.url, TOUCHPOINT_API_KEY: "key" },
    });
    expect(ending).toMatchObject({ code: 0, stdout: '{"same":true,"accepted":[120,0]}' });
    expect([sandbox.state.emails.length, sandbox.state.events.length]).toEqual([1, 120]);
    // The command prints the tables that the program made.
    const cli = ["node_modules/touchpoint-sdk/dist/cli.js", "ledger", "migration", "postgres"];
    const printed = await run(process.execPath, cli, `${project.installed}/../..`);
    expect(printed.stdout).toContain("CREATE TABLE IF NOT EXISTS touchpoint_ledger");
  } finally {
    await Promise.all([server.stop(), service.close(), project.remove()]);
  }
});
