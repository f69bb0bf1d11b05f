import { randomUUID } from "node:crypto";
import { ConfigurationError } from "../errors.ts";
import type {
  ClaimDetails,
  Ledger,
  LedgerClaim,
  LedgerFilter,
  LedgerRow,
  SettleDetails,
  Settlement,
  TakenKey,
} from "../ledger/ledger.ts";
import {
  aged,
  checkKey,
  checkSettling,
  claimDetails,
  listFilter,
  rowOf,
  type Settling,
  type Stored,
  scheduledIdOf,
  settling,
} from "../ledger/rules.ts";
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

/** A key that is not free, and the time of the database when it was read. */
interface ReadKey {
  readonly key: string;
  readonly stored: Stored;
  readonly now: number;
}

/** How to settle a claimed key. */
interface Change extends Settling {
  readonly receipt?: unknown;
}

const states = ["pending", "unknown", "sent"] as const;

const readKey = (row: Row): ReadKey => {
  const { receipt } = row;
  const stored: Stored = {
    // The table allows no other.
    state: states.find((state) => state === row.state) ?? "unknown",
    claim: String(row.claim),
    fingerprint: String(row.fingerprint),
    operation: String(row.operation),
    // Drivers give 64-bit integers as numbers, texts or BigInts.
    limitMs: Number(row.limit_ms),
    since: Number(row.since),
    receipt: typeof receipt === "string" ? JSON.parse(receipt) : undefined,
  };
  return { key: String(row.once_key), stored, now: Number(row.now) };
};

const known = ({ stored, now }: ReadKey): TakenKey => aged(stored, now);

const rowsAtOnce = 500;

class SqlLedger implements Ledger {
  readonly #run: Run;
  readonly #table: string;
  readonly #dialect: SqlDialect;

  constructor(run: Run, table: string, dialect: SqlDialect) {
    this.#run = run;
    this.#table = table;
    this.#dialect = dialect;
  }

  async claim(key: string, fingerprint: string, details?: Partial<ClaimDetails>): Promise<LedgerClaim> {
    const claim = randomUUID();
    const { operation, limitMs } = claimDetails(details);
    const integer = asInteger[this.#dialect];
    const sql =
      `INSERT INTO ${this.#table} (once_key, state, claim, fingerprint, operation, limit_ms, since) ` +
      `VALUES (${asText}, 'pending', ${asText}, ${asText}, ${asText}, ${integer}, ${now[this.#dialect]}) ` +
      "ON CONFLICT (once_key) DO NOTHING RETURNING claim";
    for (;;) {
      try {
        const rows = await this.#run(sql, key, claim, fingerprint, operation, `${limitMs}`);
        if (rows.length > 0) return { state: "claimed", claim };
      } catch (error) {
        // The claim may be committed anyway; nothing was sent under it.
        this.settle(key, "not-sent", { claim }).catch(() => undefined);
        throw error;
      }
      const taken = await this.read(key);
      // Otherwise it was freed between the two statements.
      if (taken !== undefined) return taken;
    }
  }

  async read(key: string): Promise<TakenKey | undefined> {
    checkKey("get", key);
    const found = await this.#find("once_key", key);
    return found && known(found);
  }

  async settle(key: string, as: Settlement, details?: SettleDetails): Promise<boolean> {
    const { claim, force, receipt } = details ?? {};
    checkSettling(key, as, { claim, force, receipt });
    if (claim !== undefined) return this.#write(key, claim, { as, receipt });
    const found = await this.#find("once_key", key);
    const how = found && settling(found.stored, as, { claim, force, now: found.now });
    if (found === undefined || how === undefined) return false;
    return this.#write(key, found.stored.claim, { ...how, receipt });
  }

  async settleScheduled(id: string, as: "not-sent" | "unknown"): Promise<boolean> {
    const found = await this.#find("scheduled_id", id);
    return found !== undefined && this.#write(found.key, found.stored.claim, { as, over: true });
  }

  async release(key: string): Promise<boolean> {
    checkKey("release", key);
    const found = await this.#find("once_key", key);
    return found !== undefined && this.#write(key, found.stored.claim, { as: "not-sent", over: true });
  }

  async get(key: string): Promise<LedgerRow | undefined> {
    const taken = await this.read(key);
    return taken && rowOf(key, taken);
  }

  async *list(filter?: LedgerFilter): AsyncGenerator<LedgerRow> {
    const passes = listFilter(filter);
    const integer = asInteger[this.#dialect];
    let after: ReadKey | undefined;
    for (;;) {
      const where =
        after === undefined
          ? ""
          : `WHERE since < ${integer} OR (since = ${integer} AND once_key < ${asText}) `;
      const since = `${after?.stored.since}`;
      const found = await this.#run(
        `${this.#select} ${where}ORDER BY since DESC, once_key DESC LIMIT ${rowsAtOnce}`,
        ...(after === undefined ? [] : [since, since, after.key]),
      );
      for (const row of found) {
        after = readKey(row);
        const listed = rowOf(after.key, known(after));
        if (passes(listed)) yield listed;
      }
      if (found.length < rowsAtOnce) return;
    }
  }

  get #select(): string {
    const columns = "once_key, state, claim, fingerprint, operation, limit_ms, since, receipt";
    return `SELECT ${columns}, ${now[this.#dialect]} AS now FROM ${this.#table}`;
  }

  async #find(column: "once_key" | "scheduled_id", value: string): Promise<ReadKey | undefined> {
    const [row] = await this.#run(
      `${this.#select} WHERE ${column} = ${asText} ORDER BY since DESC LIMIT 1`,
      value,
    );
    return row && readKey(row);
  }

  /** One statement by key and claim: it never settles a later claim of another process. */
  async #write(key: string, claim: string, { as, over, receipt }: Change): Promise<boolean> {
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
  return new SqlLedger(runner(query, dialect, table), table, dialect);
};
