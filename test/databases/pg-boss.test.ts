import { spawn } from "node:child_process";
import { once } from "node:events";
import { PgBoss } from "pg-boss";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { transaction } from "../../examples/jobs/pg-boss-enqueue.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { migration, sqlLedger } from "../../src/sql/index.ts";
import { runJobKills } from "../e2e/job-kills.ts";
import { PostgresServer, poolOf, queryOf } from "../support/postgres-server.ts";
import { compile, root } from "../support/programs.ts";

const [program = ""] = await compile("../../test/databases/tmp", [`${root}examples/jobs/pg-boss-worker.ts`]);
const queue = "welcome-emails";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 60_000);
afterAll(() => server.stop());

test("a committed transaction sends its email once, a rolled back one never, while workers are killed", async () => {
  const pool = poolOf(server.url);
  // It looks for jobs of dead workers once a minute otherwise, however often it is called.
  const boss = new PgBoss({ connectionString: server.url, monitorIntervalSeconds: 1 });
  // Its pool may still be ending when the server stops.
  boss.on("error", () => undefined);
  await boss.start();
  onTestFinished(async () => {
    await boss.stop({ graceful: false });
    await pool.end();
  });
  await pool.query(`${migration("postgres")}CREATE TABLE users (name text PRIMARY KEY)`);
  // The jobs of a worker that died come back after a second.
  await boss.createQueue(queue, { expireInSeconds: 1, retryLimit: 20 });

  const committed: string[] = [];
  const rolledBack: string[] = [];
  for (let at = 0; at < 15; at += 1) {
    const user = `user-${at}`;
    const isKept = at % 3 !== 0;
    const connection = await pool.connect();
    const done = transaction(connection, boss, async (ask) => {
      await connection.query("INSERT INTO users VALUES ($1)", [user]);
      await ask(queue, { user, to: `${user}@example.com` });
      if (!isKept) throw new Error("changed my mind");
    });
    await done.then(
      () => committed.push(user),
      () => rolledBack.push(user),
    );
    connection.release();
  }

  const { rows } = await pool.query("SELECT name FROM users");
  expect(rows.map(({ name }) => name)).toEqual(committed);
  const tally = await runJobKills(committed, 4, {
    program,
    env: { DATABASE_URL: server.url },
    ledger: sqlLedger(queryOf(pool), { dialect: "postgres" }),
    again: async (user) => void (await boss.send(queue, { user, to: `${user}@example.com` })),
    tick: () => boss.supervise(queue),
  });
  console.log(JSON.stringify({ committed: committed.length, rolledBack: rolledBack.length, ...tally }));
  expect(tally).toMatchObject({ kills: 4, emails: committed.length, wrong: [] });
});

test("a worker whose connections the database ends sends the next email", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"] });
  const [service, pool] = [await sandbox.listen(), poolOf(server.url)];
  await pool.query(migration("postgres"));
  const boss = new PgBoss({ connectionString: server.url });
  boss.on("error", () => undefined);
  await boss.start();
  await boss.createQueue(queue);
  const own = `${server.url}?application_name=worker`;
  const env = { DATABASE_URL: own, TOUCHPOINT_BASE_URL: service.url, TOUCHPOINT_API_KEY: "key" };
  const worker = spawn(process.execPath, [program], { env: { ...process.env, ...env }, stdio: "ignore" });
  const exit = once(worker, "exit");
  onTestFinished(async () => {
    worker.kill("SIGKILL");
    await boss.stop({ graceful: false });
    await Promise.all([pool.end(), service.close()]);
  });
  const send = async (user: string): Promise<void> => {
    await boss.send(queue, { user, to: `${user}@example.com` });
    await expect
      .poll(() => sandbox.state.emails.at(-1)?.subject, { timeout: 30_000 })
      .toBe(`Welcome, ${user}`);
  };
  await send("ada");
  const { rows } = await pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'worker'",
  );
  // Of its ledger, and of pg-boss.
  expect(rows.length).toBeGreaterThan(1);
  await send("eve");
  worker.kill("SIGTERM");
  expect(await exit).toEqual([0, null]);
});
