import type { Ledger } from "../ledger/ledger.ts";
import { AdapterFault, type KeyStore, ledgerOver } from "../ledger/ledger-over.ts";
import { type LedgerEntry, scheduledIdOf } from "../ledger/rules.ts";
import { creationAdvice, defaultTables } from "./migration.ts";
import {
  asInteger,
  asText,
  isRefusal,
  mustReturnRows,
  now,
  type Row,
  type Run,
  runner,
  type SqlDialect,
  type SqlQuery,
  storeOptions,
} from "./query.ts";

/** The database and the table that store the keys of a ledger. */
export interface SqlLedgerOptions {
  /** The database. */
  readonly dialect: SqlDialect;
  /** The table. Default `touchpoint_ledger`. */
  readonly table?: string | undefined;
}

const states = ["pending", "unknown", "sent"] as const;

/** @throws AdapterFault for a row whose columns have other names, such as `onceKey`. */
const entryOf = (row: Row): LedgerEntry => {
  if (row.once_key === undefined || row.claim === undefined) throw new AdapterFault(mustReturnRows);
  return readRow(row);
};

const readRow = (row: Row): LedgerEntry => ({
  key: String(row.once_key),
  // The table allows no other state.
  state: states.find((state) => state === row.state) ?? "unknown",
  claim: String(row.claim),
  fingerprint: String(row.fingerprint),
  operation: String(row.operation),
  // Drivers give 64-bit integers as numbers, texts or BigInts.
  limitMs: Number(row.limit_ms),
  since: Number(row.since),
  receipt: typeof row.receipt === "string" ? JSON.parse(row.receipt) : undefined,
  now: Number(row.now),
});

const rowsAtOnce = 500;

const hasRows = (rows: readonly Row[]): boolean => rows.length > 0;

/** The statements of a ledger. */
const statementsOf = (table: string, dialect: SqlDialect) => {
  const integer = asInteger[dialect];
  const columns = "once_key, state, claim, fingerprint, operation, limit_ms, since";
  const select = `SELECT ${columns}, receipt, ${now[dialect]} AS now FROM ${table}`;
  const order = `ORDER BY since DESC, once_key DESC LIMIT ${rowsAtOnce}`;
  // Match the key and the claim, so that a later claim of another process is never settled.
  const where = (over: boolean) =>
    `WHERE once_key = ${asText} AND claim = ${asText}${over ? "" : " AND state <> 'sent'"} RETURNING once_key`;
  return {
    claim:
      `INSERT INTO ${table} (${columns}) VALUES (${asText}, 'pending', ${asText}, ${asText}, ${asText}, ` +
      `${integer}, ${now[dialect]}) ON CONFLICT (once_key) DO NOTHING RETURNING claim`,
    find: `${select} WHERE once_key = ${asText}`,
    findScheduled: `${select} WHERE scheduled_id = ${asText} ORDER BY since DESC LIMIT 1`,
    newest: `${select} ${order}`,
    before: `${select} WHERE since < ${integer} OR (since = ${integer} AND once_key < ${asText}) ${order}`,
    free: (over: boolean) => `DELETE FROM ${table} ${where(over)}`,
    settle: (over: boolean) =>
      `UPDATE ${table} SET state = ${asText}, receipt = COALESCE(${asText}, receipt), scheduled_id = ` +
      `CASE WHEN operation = 'emails.schedule' THEN COALESCE(${asText}, scheduled_id) END ${where(over)}`,
  };
};

/** The keys of a ledger in a table. */
const sqlKeys = (run: Run, sql: ReturnType<typeof statementsOf>): KeyStore => {
  const first = async (statement: string, value: string): Promise<LedgerEntry | undefined> => {
    const [row] = await run(statement, value);
    return row && entryOf(row);
  };
  return {
    claim: async ({ key, claim, fingerprint, operation, limitMs }) => {
      const [row] = await run(sql.claim, key, claim, fingerprint, operation, `${limitMs}`);
      // For a write, a driver may return an object such as { changes: 0 } in place of rows. Such an object must not
      // grant the claim.
      if (row !== undefined && row.claim !== claim) throw new AdapterFault(mustReturnRows);
      return row !== undefined;
    },
    find: (key) => first(sql.find, key),
    findScheduled: (id) => first(sql.findScheduled, id),
    settle: async (key, claim, { as, over = false, receipt }) => {
      if (as === "not-sent") return hasRows(await run(sql.free(over), key, claim));
      const text = receipt === undefined ? null : JSON.stringify(receipt);
      // The statement stores the id only if the operation is `emails.schedule`.
      const id = scheduledIdOf("emails.schedule", receipt) ?? null;
      return hasRows(await run(sql.settle(over), as, text, id, key, claim));
    },
    async *all() {
      for (let rows = await run(sql.newest); ; ) {
        const page = rows.map(entryOf);
        yield* page;
        const last = page.at(-1);
        if (last === undefined || page.length < rowsAtOnce) return;
        rows = await run(sql.before, `${last.since}`, `${last.since}`, last.key);
      }
    },
  };
};

/**
 * A send-once ledger in your own PostgreSQL or SQLite database, for any number of processes. The ledger is as durable
 * as the database. `migration` returns the SQL that creates its table.
 *
 * **The claim must commit on its own connection before the email is sent. Never give it a connection that is in your
 * own transaction**: if that transaction is rolled back, the ledger forgets an email that was sent.
 *
 * @param query - runs one statement and resolves with its rows; see `SqlQuery`.
 * @throws ConfigurationError naming every fault of the arguments at once.
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { type SqlQuery, sqlLedger } from "touchpoint-sdk/sql";
 *
 * declare const query: SqlQuery;
 * await using sender = new Client({ ledger: sqlLedger(query, { dialect: "postgres" }) });
 * ```
 */
export const sqlLedger = (query: SqlQuery, options: SqlLedgerOptions): Ledger => {
  const { dialect, table = defaultTables.ledger } = storeOptions("sqlLedger", query, options, {});
  const run = runner(query, dialect, `the table ${table}`, creationAdvice(dialect, "ledger", table));
  const keys = sqlKeys(run, statementsOf(table, dialect));
  return ledgerOver(keys, { name: "sqlLedger", rule: mustReturnRows, isRefusal });
};
