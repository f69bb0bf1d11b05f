import { ConfigurationError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Claiming, type KeyStore, ledgerOver } from "../ledger/ledger-over.ts";
import { type Found, type Settling, scheduledIdOf } from "../ledger/rules.ts";
import { defaultTables } from "./migration.ts";
import {
  asInteger,
  asText,
  now,
  type Row,
  type Run,
  runner,
  type SqlDialect,
  type SqlQuery,
  storeFaults,
} from "./query.ts";

/** Where the ledger keeps its keys. */
export interface SqlLedgerOptions {
  /** The database. */
  readonly dialect: SqlDialect;
  /** Default `touchpoint_ledger`. */
  readonly table?: string | undefined;
}

const states = ["pending", "unknown", "sent"] as const;

const foundOf = (row: Row): Found => ({
  key: String(row.once_key),
  // The table allows no other.
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

/** The keys of a ledger in a table. */
class SqlKeys implements KeyStore {
  readonly #run: Run;
  readonly #table: string;
  readonly #dialect: SqlDialect;

  constructor(run: Run, table: string, dialect: SqlDialect) {
    this.#run = run;
    this.#table = table;
    this.#dialect = dialect;
  }

  async claim({ key, claim, fingerprint, operation, limitMs }: Claiming): Promise<boolean> {
    const sql =
      `INSERT INTO ${this.#table} (once_key, state, claim, fingerprint, operation, limit_ms, since) ` +
      `VALUES (${asText}, 'pending', ${asText}, ${asText}, ${asText}, ${asInteger[this.#dialect]}, ` +
      `${now[this.#dialect]}) ON CONFLICT (once_key) DO NOTHING RETURNING claim`;
    const rows = await this.#run(sql, key, claim, fingerprint, operation, `${limitMs}`);
    return rows.length > 0;
  }

  find(key: string): Promise<Found | undefined> {
    return this.#first("once_key", key);
  }

  findScheduled(id: string): Promise<Found | undefined> {
    return this.#first("scheduled_id", id);
  }

  /** One statement by key and claim: it never settles a later claim of another process. */
  async settle(key: string, claim: string, { as, over, receipt }: Settling): Promise<boolean> {
    const where =
      `WHERE once_key = ${asText} AND claim = ${asText}${over ? "" : " AND state <> 'sent'"} ` +
      "RETURNING once_key";
    if (as === "not-sent")
      return (await this.#run(`DELETE FROM ${this.#table} ${where}`, key, claim)).length > 0;
    const text = receipt === undefined ? null : JSON.stringify(receipt);
    // Stored only where the operation is a scheduling one.
    const id = scheduledIdOf("emails.schedule", receipt) ?? null;
    const sql =
      `UPDATE ${this.#table} SET state = ${asText}, receipt = COALESCE(${asText}, receipt), scheduled_id = ` +
      `CASE WHEN operation = 'emails.schedule' THEN COALESCE(${asText}, scheduled_id) END ${where}`;
    return (await this.#run(sql, as, text, id, key, claim)).length > 0;
  }

  async *all(): AsyncGenerator<Found> {
    const integer = asInteger[this.#dialect];
    const later = `WHERE since < ${integer} OR (since = ${integer} AND once_key < ${asText})`;
    for (let after: Found | undefined; ; ) {
      const [where, from] =
        after === undefined ? ["", []] : [later, [`${after.since}`, `${after.since}`, after.key]];
      const order = `${where} ORDER BY since DESC, once_key DESC LIMIT ${rowsAtOnce}`;
      const rows = await this.#run(`${this.#select} ${order}`, ...from);
      for (const row of rows) {
        after = foundOf(row);
        yield after;
      }
      if (rows.length < rowsAtOnce) return;
    }
  }

  get #select(): string {
    const columns = "once_key, state, claim, fingerprint, operation, limit_ms, since, receipt";
    return `SELECT ${columns}, ${now[this.#dialect]} AS now FROM ${this.#table}`;
  }

  async #first(column: "once_key" | "scheduled_id", value: string): Promise<Found | undefined> {
    const where = `WHERE ${column} = ${asText} ORDER BY since DESC LIMIT 1`;
    const [row] = await this.#run(`${this.#select} ${where}`, value);
    return row && foundOf(row);
  }
}

/**
 * A send-once ledger in your own PostgreSQL or SQLite database, for any number of processes. It is as durable as the
 * database behind it. `migration` prints its table.
 *
 * **The claim must commit on its own connection before the email is sent. Never give it a connection that is in your own
 * transaction**: rolled back, it would forget an email that went out.
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
  // An untyped caller may pass null or nothing; the checks report it.
  const given: Partial<SqlLedgerOptions> = options ?? {};
  const { dialect, table = defaultTables.ledger } = given;
  const faults = storeFaults(query, { ...given, table }, ["dialect", "table"]);
  if (faults.length > 0 || dialect === undefined)
    throw new ConfigurationError(`sqlLedger: ${faults.join("; ")}`);
  return ledgerOver(new SqlKeys(runner(query, dialect, table), table, dialect));
};
