// Needs the program: pgbouncer
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { migration } from "../../src/sql/index.ts";
import { freePort } from "../support/free-port.ts";
import { PostgresServer, poolOf } from "../support/postgres-server.ts";
import { drivers } from "./drivers.mjs";
import { overPostgres, prove, proven, queryOf, sqlStores } from "./proof.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

let server: PostgresServer;
let admin: ReturnType<typeof poolOf>;
let folder = "";
let bouncer: ChildProcess;
let url = "";

/** A PgBouncer that gives a connection to one transaction after another. */
const startBouncer = async (): Promise<void> => {
  const port = await freePort();
  const settings = [
    "[databases]",
    `* = host=127.0.0.1 port=${new URL(server.url).port} user=postgres`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = trust",
    `auth_file = ${folder}/users`,
    "pool_mode = transaction",
    "default_pool_size = 2",
    // What the guide says of Slonik.
    "ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout",
  ];
  await writeFile(join(folder, "users"), '"postgres" ""\n');
  await writeFile(join(folder, "pgbouncer.ini"), `${settings.join("\n")}\n`);
  // It refuses to run as root.
  await chmod(folder, 0o755);
  const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
  bouncer = spawn("pgbouncer", [...user, join(folder, "pgbouncer.ini")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (bouncer.stderr === null) throw new Error("no output of pgbouncer");
  for await (const line of createInterface(bouncer.stderr)) if (line.includes("process up")) break;
  bouncer.stderr.resume();
  url = `postgres://postgres@127.0.0.1:${port}/`;
};

beforeAll(async () => {
  server = await PostgresServer.start("fsync=off");
  admin = poolOf(server.url, 1);
  folder = await mkdtemp(join(tmpdir(), "touchpoint-pgbouncer-"));
  await startBouncer();
});
afterAll(async () => {
  const exited = once(bouncer, "exit");
  bouncer.kill("SIGKILL");
  await Promise.all([exited, admin.end()]);
  await server.stop();
  await rm(folder, { recursive: true });
});

const database = async (name: string): Promise<void> => {
  await admin.query(`CREATE DATABASE ${name}`);
  const direct = poolOf(server.url.replace(/\w+$/, name), 1);
  await direct.query(migration("postgres"));
  await direct.end();
};

test("behind a PgBouncer in transaction mode, Bun.sql sends each email once", async () => {
  await database("bun");
  const bun = at("node_modules/@oven/bun-linux-x64/bin/bun");
  const { stdout } = await promisify(execFile)(bun, [at("bun-child.ts"), "Bun.sql", `${url}bun`]);
  expect(JSON.parse(stdout)).toEqual(proven);
});

test.each(overPostgres)(
  "behind a PgBouncer in transaction mode, $name sends each email once",
  async (row) => {
    const name = `b${overPostgres.indexOf(row)}`;
    await database(name);
    const opened = await drivers[row.name]?.open(url + name, folder, "");
    onTestFinished(async () => void (await opened?.close()));
    const query = queryOf(row.adapter, opened?.handles ?? {});
    expect(await prove(sqlStores(query, "postgres"))).toEqual(proven);
  },
);
