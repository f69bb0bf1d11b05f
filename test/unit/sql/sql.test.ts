import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ConfigurationError } from "../../../src/errors.ts";
import { Client, type EmailInput } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { migration, type SqlQuery, sqlCheckpoint, sqlLedger } from "../../../src/sql/index.ts";
import { keepsTheRules } from "../../support/ledger-rules.ts";

const dialect = "postgres";
let database: PGlite;
const query: SqlQuery = async (sql, params) => (await database.query<object>(sql, [...params])).rows;

beforeAll(async () => {
  database = await PGlite.create();
  // A second run changes nothing.
  for (let run = 0; run < 2; run += 1) await database.exec(migration(dialect));
  // PostgreSQL is compiled here; that takes seconds on a busy machine.
}, 300_000);
beforeEach(() => database.exec("TRUNCATE touchpoint_ledger, touchpoint_checkpoint"));
afterAll(() => database.close());

describe("a ledger in PostgreSQL", () => {
  keepsTheRules(() => sqlLedger(query, { dialect }));

  test("lists the newest claim first, in pages, each key once", async () => {
    await database.exec(
      "INSERT INTO touchpoint_ledger SELECT 'k' || n, 'sent', 'c', 'f', 'emails.send', 0, n / 3, NULL, NULL " +
        "FROM generate_series(0, 1700) AS n",
    );
    const rows: { key: string; since: number }[] = [];
    for await (const row of sqlLedger(query, { dialect }).list()) rows.push(row);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(1_701);
    expect(rows.map(({ since }) => since)).toEqual(rows.map(({ since }) => since).sort((a, b) => b - a));
  });

  test("lives in a table and a schema of any plain name", async () => {
    await database.exec(`CREATE SCHEMA mail; ${migration(dialect, { ledger: "mail.once_keys" })}`);
    const ledger = sqlLedger(query, { dialect, table: "mail.once_keys" });
    expect(await ledger.claim("a", "f")).toMatchObject({ state: "claimed" });
    expect(await sqlLedger(query, { dialect }).read("a")).toBeUndefined();
  });
});

const email: EmailInput = { to: "ada@example.com", subject: "Welcome", text: "Hello" };

const sender = (ledgerQuery: SqlQuery) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const ledger = sqlLedger(ledgerQuery, { dialect });
  const open = () =>
    new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false, ledger });
  return { sandbox, open, ledger };
};

test("clients that share the table send an email once", async () => {
  const { sandbox, open } = sender(query);
  const first = await open().emails.send(email, { once: "welcome:ada" });
  expect(await open().emails.send(email, { once: "welcome:ada" })).toEqual(first);
  expect(sandbox.state.emails).toHaveLength(1);
});

/** Fails at the nth statement whose text matches, before or after the database ran it. */
const failing = (match: RegExp, when: "before" | "after", error: Error, times = 1): SqlQuery => {
  let left = times;
  return async (sql, params) => {
    const isTrial = params.some((param) => param?.startsWith("touchpoint:self-test"));
    const fails = left > 0 && match.test(sql) && !isTrial;
    if (fails) left -= 1;
    if (fails && when === "before") throw error;
    const rows = await query(sql, params);
    if (fails) throw error;
    return rows;
  };
};

/** Fails at each write, also of the first use. */
const refusing =
  (error: Error): SqlQuery =>
  async (sql, params) => {
    if (!sql.startsWith("SELECT")) throw error;
    return query(sql, params);
  };

test.each(["before", "after"] as const)(
  "a connection that is lost %s the claim was committed sends nothing, and leaves the key free",
  async (when) => {
    const { sandbox, open } = sender(failing(/^INSERT/, when, new Error("Connection terminated")));
    await expect(open().emails.send(email, { once: "k" })).rejects.toMatchObject({
      ...{ code: "connection_failed", outcome: "not-applied" },
      message:
        "emails.send: the ledger failed (the table touchpoint_ledger: Connection terminated). Nothing was sent.",
    });
    expect(sandbox.state.emails).toHaveLength(0);
    await open().emails.send(email, { once: "k" });
    expect(sandbox.state.emails).toHaveLength(1);
  },
);

test("a receipt whose write failed is written again", async () => {
  const { sandbox, open, ledger } = sender(
    failing(/^UPDATE/, "before", new Error("Connection terminated"), 2),
  );
  const client = open();
  const sent = await client.emails.send(email, { once: "k" });
  await expect.poll(() => ledger.get("k"), { interval: 20 }).toMatchObject({ state: "sent" });
  expect(await open().emails.send(email, { once: "k" })).toEqual(sent);
  expect(sandbox.state.emails).toHaveLength(1);
});

test("a receipt that cannot be written is named in the log once the client closes", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const broken = failing(/^UPDATE/, "before", new Error("Connection terminated"), Number.POSITIVE_INFINITY);
  const warnings: unknown[] = [];
  const ignore = (): void => undefined;
  const client = new Client({
    ...{ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false },
    ledger: sqlLedger(broken, { dialect }),
    logger: { debug: ignore, info: ignore, error: ignore, warn: (...line) => warnings.push(line) },
    logLevel: "warn",
  });
  await client.emails.send(email, { once: "k" });
  await client.close();
  expect(warnings).toEqual([
    [expect.stringContaining("could not store its receipt"), expect.objectContaining({ key: "k" })],
  ]);
});

test.each<[string, SqlQuery]>([
  [
    "one object for a write",
    async (sql, params) => {
      const rows = await query(sql, params);
      return sql.startsWith("SELECT") ? rows : [{ changes: rows.length }];
    },
  ],
  [
    "names in camel case",
    async (sql, params) => {
      const rows = await query(sql, params);
      const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      return rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value])),
      );
    },
  ],
  [
    "a user who may not update",
    async (sql, params) => {
      if (sql.startsWith("UPDATE")) throw new Error("permission denied for table touchpoint_ledger");
      return query(sql, params);
    },
  ],
])("five racers over an adapter with %s send no email", async (_what, adapter) => {
  const { sandbox, open } = sender(adapter);
  const racers = Array.from({ length: 5 }, () => open().emails.send(email, { once: "k" }));
  const results = await Promise.allSettled(racers);
  expect(results.map((result) => result.status === "rejected" && result.reason.code)).toEqual(
    Array(5).fill("configuration_invalid"),
  );
  expect(sandbox.state.emails).toEqual([]);
  expect((await query("SELECT once_key FROM touchpoint_ledger", [])).length).toBe(0);
});

test("a first claim that hangs holds up no later one", async () => {
  let hang: () => void = () => undefined;
  const hung = new Promise<void>((resolve) => {
    hang = resolve;
  });
  let hangs = true;
  const { ledger } = sender((sql, params) => {
    if (!hangs || !sql.startsWith("INSERT")) return query(sql, params);
    hangs = false;
    hang();
    return new Promise(() => undefined);
  });
  const first = ledger.claim("k", "f");
  await hung;
  expect(await Promise.race([first, ledger.claim("k2", "f")])).toMatchObject({ state: "claimed" });
});

test("a user who may not delete is refused, and no key of a trial stays behind", async () => {
  const { sandbox, open } = sender((sql, params) => {
    if (sql.startsWith("DELETE")) throw new Error("permission denied for table touchpoint_ledger");
    return query(sql, params);
  });
  for (const once of ["a", "b"])
    await expect(open().emails.send(email, { once })).rejects.toMatchObject({
      code: "configuration_invalid",
    });
  expect([sandbox.state.emails, await query("SELECT once_key FROM touchpoint_ledger", [])]).toEqual([[], []]);
});

const coded = (message: string, fields: object): Error => Object.assign(new Error(message), fields);
const inPrisma = (code: string) => ({
  ...{ code: "P2010", meta: { driverAdapterError: { cause: { code, originalCode: code } } } },
});

test.each<[string, Error]>([
  ["a missing privilege, in German", coded("keine Berechtigung", { code: "42501" })],
  ["a read-only transaction, in German", coded("Transaktion ist nur lesend", { code: "25006" })],
  ["an undefined column", coded("Spalte existiert nicht", { code: "42703" })],
  ["a table that is gone", coded("Relation existiert nicht", { code: "42P01" })],
  ["a code inside Sequelize's error", coded("verboten", { parent: { code: "42501" } })],
  ["a code inside Prisma's error", coded("verboten", inPrisma("42501"))],
  ["a code of Bun.sql", coded("verboten", { code: "ERR_POSTGRES_SERVER_ERROR", errno: "42501" })],
  ["a code of libSQL", coded("verboten", { code: "SQLITE_READONLY_DBMOVED" })],
  ["a number of node:sqlite", coded("verboten", { code: "ERR_SQLITE_ERROR", errcode: 1_032 })],
  ["words beside the general code", coded("no such column: claim", { code: "SQLITE_ERROR" })],
  ["words beside the general number", coded("no such column: claim", { errcode: 1 })],
  ["words alone", new Error("D1_ERROR: no such table: touchpoint_ledger")],
])("a database that refuses by %s is refused at first use", async (_what, error) => {
  const { sandbox, open } = sender(refusing(error));
  const send = open().emails.send(email, { once: "k" });
  await expect(send).rejects.toMatchObject({ code: "configuration_invalid" });
  expect(sandbox.state.emails).toEqual([]);
});

test("a user who may not read is refused at first use", async () => {
  const { sandbox, open } = sender(() => {
    throw coded("keine Berechtigung", { code: "42501" });
  });
  const send = open().emails.send(email, { once: "k" });
  await expect(send).rejects.toMatchObject({
    code: "configuration_invalid",
    outcome: "not-applied",
    message: "sqlLedger: the table touchpoint_ledger: keine Berechtigung",
  });
  expect(sandbox.state.emails).toEqual([]);
});

test.each<[string, Error]>([
  ["the words of a refusal", coded("terminating: the disk is read-only", { code: "57P01" })],
  ["them in Prisma's error", coded("permission denied", inPrisma("53300"))],
  ["them in SQLite", coded("database is locked: permission denied", { code: "SQLITE_BUSY" })],
  ["them in node:sqlite", coded("read-only lock", { errcode: 5 })],
])("a database that fails with another code and %s may be reached again", async (_what, error) => {
  const { sandbox, open } = sender(refusing(error));
  const send = open().emails.send(email, { once: "k" });
  await expect(send).rejects.toMatchObject({ code: "connection_failed", outcome: "not-applied" });
  expect(sandbox.state.emails).toEqual([]);
});

test("the rows and count of TypeORM are understood", async () => {
  const typeOrm: SqlQuery = async (sql, params) => {
    const rows = await query(sql, params);
    return /^(UPDATE|DELETE)/.test(sql) ? ([rows, rows.length] as never) : rows;
  };
  const { sandbox, open, ledger } = sender(typeOrm);
  await open().emails.send(email, { once: "k" });
  expect([await ledger.get("k"), await ledger.release("k"), sandbox.state.emails.length]).toMatchObject([
    { state: "sent" },
    true,
    1,
  ]);
});

test("a database that hangs at the first read ends the send by timeoutMs, and nothing is sent", async () => {
  const { sandbox, open } = sender(() => new Promise(() => undefined));
  const send = open().emails.send(email, { once: "k", timeoutMs: 20 });
  await expect(send).rejects.toMatchObject({
    ...{ code: "connection_failed", outcome: "not-applied" },
    message: "emails.send: the ledger did not respond within timeoutMs, 20 ms. Nothing was sent.",
  });
  expect(sandbox.state.emails).toEqual([]);
});

test.each([
  ["a serialization failure", Object.assign(new Error("could not serialize"), { code: "40001" })],
  ["a deadlock that a library has wrapped", new Error("query failed", { cause: { code: "40P01" } })],
  [
    "a deadlock that Sequelize has wrapped",
    Object.assign(new Error("failed"), { parent: { code: "40P01" } }),
  ],
])("%s was rolled back, and is run again", async (_what, error) => {
  const { sandbox, open } = sender(failing(/./, "before", error, 3));
  await open().emails.send(email, { once: "k" });
  expect(sandbox.state.emails).toHaveLength(1);
});

test("a missing table is named, with the command that prints it", async () => {
  const ledger = sqlLedger(query, { dialect, table: "missing" });
  await expect(ledger.claim("k", "f")).rejects.toThrow(
    'the table missing: relation "missing" does not exist (create it: run the SQL that "npx touchpoint ledger migration postgres --ledger missing" prints)',
  );
});

test.each<[string, (rows: readonly object[]) => unknown]>([
  ["the result object of a driver", (rows) => ({ rows })],
  ["rows beside their metadata", (rows) => [rows, {}]],
  ["rows as arrays", (rows) => rows.map((row) => Object.values(row))],
  ["nothing", () => undefined],
])(
  "a query function that returns %s is refused with the expected form, and nothing is sent",
  async (_what, wrapped) => {
    const wrong = async (...to: Parameters<SqlQuery>) => wrapped(await query(...to)) as never;
    await sqlLedger(query, { dialect }).claim("known", "f");
    const { claim, get } = sqlLedger(wrong, { dialect });
    const advice = "the table touchpoint_ledger: query must return an array of rows";
    await expect(get("known")).rejects.toThrow(advice);
    await expect(claim("known", "f")).rejects.toThrow(advice);
    const { sandbox, open } = sender(wrong);
    const send = open().emails.send(email, { once: "new" });
    await expect(send).rejects.toMatchObject({ code: "configuration_invalid" });
    expect(sandbox.state.emails).toEqual([]);
  },
);

test.each<[string, (sql: string) => boolean]>([
  ["any statement", () => false],
  ["a statement that writes", (sql) => sql.startsWith("SELECT")],
])(
  "a query function that drops the rows of %s is reported, and the key stays free",
  async (_what, returnsRows) => {
    const statements: string[] = [];
    const silent: SqlQuery = async (sql, params) => {
      statements.push(sql);
      const rows = await query(sql, params);
      return returnsRows(sql) ? rows : [];
    };
    const advice = "the query function must return the rows of every statement";
    const { sandbox, open } = sender(silent);
    await expect(open().emails.send(email, { once: "k" })).rejects.toThrow(advice);
    expect([sandbox.state.emails.length, statements.length < 50]).toEqual([0, true]);
    const checkpoint = sqlCheckpoint(silent, { dialect, id: "events" });
    await expect(checkpoint.save({ version: 1, done: 0 } as never)).rejects.toThrow(advice);
  },
);

test("invalid arguments are refused at once, all in one error", () => {
  expect(() =>
    Reflect.apply(sqlLedger, undefined, [{}, { dialect: "mysql", tabel: "x", table: "a;b" }]),
  ).toThrow(
    'sqlLedger: query must be a function of (sql, params), got an object; there is no option "tabel"',
  );
  expect(() => Reflect.apply(sqlLedger, undefined, [query])).toThrow(
    'dialect must be "postgres" or "sqlite"',
  );
  expect(() => Reflect.apply(sqlCheckpoint, undefined, [query, { dialect, id: "" }])).toThrow(
    'sqlCheckpoint: id must be a non-empty string, got ""',
  );
  expect(() => Reflect.apply(migration, undefined, ["postgres", { ledger: "a b" }])).toThrow(
    "migration: ledger must be a name of letters",
  );
});

describe("a checkpoint", () => {
  const store = (id = "events") => sqlCheckpoint(query, { dialect, id });
  const state = { version: 1, done: 3, last: "x" } as const;

  test("is what was saved last, by id", async () => {
    expect(await store().load()).toBeUndefined();
    await store().save({ ...state, done: 1 });
    await store().save(state);
    expect(await store().load()).toEqual(state);
    expect(await store("others").load()).toBeUndefined();
  });

  test("that is damaged, or a database that fails, is a ConfigurationError", async () => {
    await database.query("INSERT INTO touchpoint_checkpoint VALUES ('events', '{')");
    await expect(store().load()).rejects.toThrow(ConfigurationError);
    const failed = sqlCheckpoint(failing(/./, "before", new Error("gone")), { dialect, id: "events" });
    await expect(failed.load()).rejects.toThrow(
      "the checkpoint events: the table touchpoint_checkpoint: gone",
    );
  });
});
