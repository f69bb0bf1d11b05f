import { ConfigurationError } from "../errors.ts";
import { type CheckpointStore, checkpoints } from "../runtime/checkpoint.ts";
import { mustBeText } from "../runtime/rules.ts";
import { creationAdvice, defaultTables } from "./migration.ts";
import { asText, mustReturnRows, runner, type SqlDialect, type SqlQuery, storeOptions } from "./query.ts";

/** The run that the checkpoint belongs to, and the table that stores it. */
export interface SqlCheckpointOptions {
  /** The database. */
  readonly dialect: SqlDialect;
  /** The id of the checkpoint. Use one id per source: `events-2026-11.ndjson`. */
  readonly id: string;
  /** The table. Default `touchpoint_checkpoint`. */
  readonly table?: string | undefined;
}

/**
 * Stores the checkpoint of an ingestion or import in your database, so that another process can continue a run whose
 * process was killed. `migration` returns the SQL that creates the table.
 *
 * @param query - runs one statement and resolves with its rows; see `SqlQuery`.
 * @throws ConfigurationError naming every fault of the arguments at once. A run that uses the store throws one when the
 * database fails, or when the stored state is damaged, of a newer version, or not a checkpoint.
 * @example
 * ```ts
 * import { type SqlQuery, sqlCheckpoint } from "touchpoint-sdk/sql";
 *
 * declare const query: SqlQuery;
 * const events = [{ name: "signed.up", contact: { email: "ada@example.com" } }];
 * await client.events.ingest(events, { checkpoint: sqlCheckpoint(query, { dialect: "postgres", id: "sign-ups" }) });
 * ```
 */
export const sqlCheckpoint = (query: SqlQuery, options: SqlCheckpointOptions): CheckpointStore => {
  const own = storeOptions("sqlCheckpoint", query, options, { id: mustBeText });
  const { dialect, id, table = defaultTables.checkpoint } = own;
  const run = runner(
    query,
    dialect,
    `the checkpoint ${id}: the table ${table}`,
    creationAdvice(dialect, "checkpoint", table),
  );
  return {
    load: async () => {
      const [row] = await run(`SELECT state FROM ${table} WHERE id = ${asText}`, id);
      return row && checkpoints.parse(String(row.state), `the checkpoint ${id} in the table ${table}`);
    },
    save: async (state) => {
      const sql =
        `INSERT INTO ${table} (id, state) VALUES (${asText}, ${asText}) ` +
        "ON CONFLICT (id) DO UPDATE SET state = excluded.state RETURNING id";
      const stored = await run(sql, id, JSON.stringify(state));
      if (stored.length === 0) throw new ConfigurationError(`the checkpoint ${id}: ${mustReturnRows}`);
    },
  };
};
