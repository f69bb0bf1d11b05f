import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/sandbox/index.ts";
import { migration, type SqlQuery, sqlLedger } from "../../src/sql/index.ts";
import { PostgresServer, poolOf } from "../support/postgres-server.ts";
import { drivers } from "./drivers.mjs";
import { overPostgres, prove, proven, queryOf, rows, senders, sqlStores } from "./proof.ts";

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

let server: PostgresServer;
let admin: ReturnType<typeof poolOf>;

beforeAll(async () => {
  // Every statement of every connection may fail to be serialized.
  server = await PostgresServer.start("default_transaction_isolation=serializable", "fsync=off");
  admin = poolOf(server.url, 1);
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});

let databases = 0;

/** A database of its own, with the tables. */
const database = async (...statements: readonly string[]): Promise<string> => {
  databases += 1;
  await admin.query(`CREATE DATABASE d${databases}`);
  const url = server.url.replace(/\w+$/, `d${databases}`);
  const pool = poolOf(url, 1);
  for (const statement of [migration("postgres"), ...statements]) await pool.query(statement);
  await pool.end();
  return url;
};

/** Opens a driver over the database until the test ends. */
const opened = async (name: string, url: string) => {
  const driver = drivers[name];
  if (driver === undefined) throw new Error(`test/databases/drivers.mjs has no ${name}`);
  const folder = await mkdtemp(join(tmpdir(), "touchpoint-databases-"));
  const { handles, close } = await driver.open(url, folder, migration(driver.dialect));
  onTestFinished(async () => {
    await close();
    await rm(folder, { recursive: true });
  });
  return { handles, dialect: driver.dialect };
};

const inBun = rows.filter(({ name }) => /^bun[:.]/i.test(name));
const inNode = rows.filter((row) => !inBun.includes(row));

test("the guide's table has each driver, with the version that is run", () => {
  const { dependencies } = JSON.parse(readFileSync(at("package.json"), "utf8"));
  const packages: Readonly<Record<string, string>> = {
    "postgres.js": "postgres",
    PGlite: "@electric-sql/pglite",
    Drizzle: "drizzle-orm",
    MikroORM: "@mikro-orm/postgresql",
    Prisma: "@prisma/client",
    libSQL: "@libsql/client",
    D1: "miniflare",
    "node:sqlite": "node24",
    "bun:sqlite": "@oven/bun-linux-x64",
    "Bun.sql": "@oven/bun-linux-x64",
  };
  const installed = Object.keys(drivers).map((name) => {
    const version = String(dependencies[packages[name] ?? name.toLowerCase()]);
    return `${name} ${version.split("@").at(-1)}`;
  });
  expect(rows.map(({ name, version }) => `${name} ${version}`).sort()).toEqual(installed.sort());
});

test.each(inNode)("the guide's line for $name sends each email once", async ({ name, adapter }) => {
  const { handles, dialect } = await opened(name, await database());
  expect(await prove(sqlStores(queryOf(adapter, handles), dialect))).toEqual(proven);
});

test.each(inBun)("the guide's line for $name sends each email once, in Bun", async ({ name }) => {
  const bun = at("node_modules/@oven/bun-linux-x64/bin/bun");
  const { stdout } = await run(bun, [at("bun-child.ts"), name, await database()]);
  expect(JSON.parse(stdout)).toEqual(proven);
});

const raising = (event: string, code: string, condition: string): readonly string[] => [
  "CREATE SEQUENCE raised",
  `CREATE FUNCTION raise() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF ${condition} THEN RAISE EXCEPTION 'verboten' USING ERRCODE = '${code}'; END IF; RETURN NEW;
  END $$`,
  `CREATE TRIGGER raise BEFORE ${event} ON touchpoint_ledger FOR EACH ROW EXECUTE FUNCTION raise()`,
];

describe.each(overPostgres)("with $name", ({ name, adapter }) => {
  test("a statement that PostgreSQL rolled back is run again", async () => {
    const { handles, dialect } = await opened(
      name,
      await database(...raising("INSERT", "40001", "nextval('raised') < 4")),
    );
    const { sandbox, send } = senders(sqlStores(queryOf(adapter, handles), dialect));
    await send("a");
    expect(sandbox.state.emails.length).toBe(1);
  });

  test("a database that only reads, as a replica does, is refused at first use", async () => {
    const url = await database();
    const path = new URL(url).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${path} SET default_transaction_read_only = on`);
    const { handles, dialect } = await opened(name, url);
    const { sandbox, send } = senders(sqlStores(queryOf(adapter, handles), dialect));
    await expect(send("a")).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining("read-only transaction"),
    });
    expect(sandbox.state.emails).toEqual([]);
  });

  test("a missing privilege is refused at first use, whatever the words", async () => {
    const { handles, dialect } = await opened(name, await database(...raising("UPDATE", "42501", "true")));
    const { sandbox, send, ledger } = senders(sqlStores(queryOf(adapter, handles), dialect));
    await expect(send("a")).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining("sqlLedger: the self-test of the store failed"),
    });
    expect([sandbox.state.emails.length, await ledger.get("a")]).toEqual([0, undefined]);
  });
});

test("four processes on one SQLite file, of three drivers, send each email once", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const [service, folder] = [await sandbox.listen(), await mkdtemp(join(tmpdir(), "touchpoint-sqlite-"))];
  onTestFinished(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });
  const bun = at("node_modules/@oven/bun-linux-x64/bin/bun");
  const processes = [
    [process.execPath, "node:sqlite"],
    [process.execPath, "node:sqlite"],
    [process.execPath, "libSQL"],
    [bun, "bun:sqlite"],
  ] as const;
  await Promise.all(
    processes.map(([program, name]) => run(program, [at("sqlite-child.ts"), name, folder, service.url])),
  );
  const subjects = sandbox.state.emails.map(({ subject }) => subject);
  expect([subjects.length, new Set(subjects).size]).toEqual([30, 30]);
  const { handles } = (await drivers["node:sqlite"]?.open("", folder, "")) ?? {};
  const adapter = rows.find(({ name }) => name === "node:sqlite")?.adapter ?? "";
  const states: string[] = [];
  for await (const { state } of sqlLedger(queryOf(adapter, handles ?? {}), { dialect: "sqlite" }).list())
    states.push(state);
  expect(states).toEqual(Array(30).fill("sent"));
});

test("a read-only SQLite is refused at first use by the number of its error", async () => {
  const { handles, dialect } = await opened("node:sqlite", "");
  const adapter = rows.find(({ name }) => name === "node:sqlite")?.adapter ?? "";
  const query = queryOf(adapter, handles);
  query("PRAGMA query_only = ON", []);
  const translated: SqlQuery = (sql, params) => {
    try {
      return query(sql, params);
    } catch (error) {
      throw Object.assign(Object(error), { message: "verboten" });
    }
  };
  const { sandbox, send } = senders(sqlStores(translated, dialect));
  await expect(send("a")).rejects.toMatchObject({
    name: "ConfigurationError",
    message: expect.stringContaining("sqlLedger: the self-test of the store failed"),
  });
  expect(sandbox.state.emails.length).toBe(0);
});

describe("five racers over an adapter that is wrong send nothing", () => {
  test.each([
    [
      "postgres.js with names in camel case",
      "postgres.js",
      "(sql, params) => camel.unsafe(sql, [...params])",
    ],
    [
      "Kysely with its CamelCasePlugin",
      "Kysely",
      "async (sql, params) => (await db.executeQuery(CompiledQuery.raw(sql, [...params]))).rows",
    ],
    ["Sequelize without a type", "Sequelize", "(sql, params) => db.query(sql, { bind: [...params] })"],
    ["Knex with its result", "Knex", "(sql, params) => db.raw(sql.replace(/\\$\\d+/g, '?'), [...params])"],
    ["Prisma's $executeRawUnsafe", "Prisma", "(sql, params) => db.$executeRawUnsafe(sql, ...params)"],
    ["node:sqlite with run()", "node:sqlite", "(sql, params) => [db.prepare(sql).run(...params)]"],
    ["libSQL with its result", "libSQL", "async (sql, args) => [await db.execute({ sql, args: [...args] })]"],
    ["D1 with run()", "D1", "async (sql, params) => [(await db.prepare(sql).bind(...params).run()).meta]"],
  ])("%s", async (_what, name, adapter) => {
    const { handles, dialect } = await opened(name, await database());
    const { sandbox, send } = senders(sqlStores(queryOf(adapter, handles), dialect));
    const racers = await Promise.allSettled(Array.from({ length: 5 }, () => send("a")));
    const codes = racers.map((racer) => racer.status === "rejected" && racer.reason.code);
    expect([codes, sandbox.state.emails.length]).toEqual([Array(5).fill("configuration_invalid"), 0]);
  });
});
