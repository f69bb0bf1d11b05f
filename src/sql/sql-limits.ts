import { limitsOver, type SharedLimitsOptions } from "../fleet/limits-over.ts";
import type { SharedLimits } from "../options/shared-limits.ts";
import { creationAdvice, defaultTables } from "./migration.ts";
import { mustBeDialect, mustBeQuery, mustBeTable, runner, type SqlDialect, type SqlQuery } from "./query.ts";
import { sqlPlace } from "./sql-place.ts";

/** The id of the limits, the table that stores them, and the behavior while the database is unavailable. */
export interface SqlLimitsOptions extends SharedLimitsOptions {
  /** The database. */
  readonly dialect: SqlDialect;
  /** The table. Default `touchpoint_limits`. */
  readonly table?: string | undefined;
}

/**
 * Limits that any number of processes share through a table of your PostgreSQL or SQLite database: permits, pauses and
 * daily counts. `migration` returns the SQL that creates the table. The table has one row for each limit of each id and
 * scope.
 *
 * After a process has died, its requests still count for 3 s and a window after its last message. The clocks of the
 * processes may differ. A distant database makes calls slower.
 *
 * @param query - runs one statement and resolves with its rows; see `SqlQuery`. Never give it a connection that is in
 * your own transaction.
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
  const faults = [
    ...mustBeQuery(query, "query"),
    ...mustBeDialect(dialect, "dialect"),
    ...mustBeTable(table, "table"),
  ];
  const advice = creationAdvice(dialect, "limits", table);
  const place = () => sqlPlace(runner(query, dialect, `the table ${table}`, advice), table, dialect);
  return limitsOver(place, shared, { name: "sqlLimits", faults });
};
