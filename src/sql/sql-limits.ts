import { limitsOver, type SharedLimitsOptions } from "../fleet/limits-over.ts";
import type { SharedLimits } from "../options/shared-limits.ts";
import { createIt, defaultTables } from "./migration.ts";
import { isDialect, isQuery, isTable, runner, type SqlDialect, type SqlQuery } from "./query.ts";
import { sqlPlace } from "./sql-place.ts";

/** Who shares the limits, where they are kept, and what happens while the database is unavailable. */
export interface SqlLimitsOptions extends SharedLimitsOptions {
  /** The database. */
  readonly dialect: SqlDialect;
  /** Default `touchpoint_limits`. */
  readonly table?: string | undefined;
}

/**
 * Limits that any number of processes share through a table of your PostgreSQL or SQLite database: permits, pauses and
 * daily counts. `migration` prints the table. It keeps a row for each limit of each id and scope.
 *
 * The requests of a process that died count for 3 s and a window after its last message. The processes' clocks need not
 * agree. A distant database makes calls slower.
 *
 * @param query - runs one statement and resolves with its rows; see `SqlQuery`. Never give it a connection that is in your
 * own transaction.
 * @throws ConfigurationError naming every fault of the arguments at once.
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { type SqlQuery, sqlLimits } from "touchpoint-sdk/sql";
 *
 * declare const query: SqlQuery;
 * await using shared = new Client({ limits: sqlLimits(query, { dialect: "postgres", id: "production" }) });
 * ```
 */
export const sqlLimits = (query: SqlQuery, options: SqlLimitsOptions): SharedLimits => {
  const { dialect, table = defaultTables.limits, ...shared } = options ?? {};
  const faults = [...isQuery(query, "query"), ...isDialect(dialect, "dialect"), ...isTable(table, "table")];
  const advice = createIt(dialect, "limits", table);
  const place = () => sqlPlace(runner(query, dialect, `the table ${table}`, advice), table, dialect);
  return limitsOver(place, shared, { name: "sqlLimits", faults });
};
