import { refuseSetup, ruleFaults } from "../runtime/rules.ts";
import { mustBeDialect, mustBeTable, type SqlDialect } from "./query.ts";

/**
 * The names of the tables to create. A table without a name is not created. Default: `touchpoint_limits`,
 * `touchpoint_ledger` and `touchpoint_checkpoint`.
 */
export interface MigrationTables {
  /** The table of `sqlLimits`. */
  readonly limits?: string | undefined;
  /** The table of `sqlLedger`. */
  readonly ledger?: string | undefined;
  /** The table of `sqlCheckpoint`. */
  readonly checkpoint?: string | undefined;
}

/** The default names of the tables. */
export const defaultTables = {
  limits: "touchpoint_limits",
  ledger: "touchpoint_ledger",
  checkpoint: "touchpoint_checkpoint",
} as const;

const integer: Readonly<Record<SqlDialect, string>> = { postgres: "bigint", sqlite: "integer" };

// Each statement is on one line, because D1's `exec` reads one statement per line.
const tableOf = (name: string, columns: readonly string[]): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (${columns.join(", ")});\n`;

const ledgerTable = (table: string, dialect: SqlDialect): string => {
  const index = table.replace(".", "_");
  const columns = [
    "once_key text NOT NULL PRIMARY KEY",
    "state text NOT NULL CHECK (state IN ('pending', 'unknown', 'sent'))",
    "claim text NOT NULL",
    "fingerprint text NOT NULL",
    "operation text NOT NULL",
    `limit_ms ${integer[dialect]} NOT NULL`,
    `since ${integer[dialect]} NOT NULL`,
    "receipt text",
    "scheduled_id text",
  ];
  return `${tableOf(table, columns)}CREATE INDEX IF NOT EXISTS ${index}_since ON ${table} (since, once_key);
CREATE INDEX IF NOT EXISTS ${index}_scheduled ON ${table} (scheduled_id);
`;
};

const stateTable = (table: string, ...columns: readonly string[]): string =>
  tableOf(table, ["id text NOT NULL PRIMARY KEY", ...columns, "state text NOT NULL"]);

/** The advice for a missing table: run the SQL that a command of the package prints. */
export const creationAdvice = (
  dialect: SqlDialect,
  kind: keyof typeof defaultTables,
  table: string,
): string => {
  const named = table === defaultTables[kind] ? "" : ` --${kind} ${table}`;
  return `create it: run the SQL that "npx touchpoint ledger migration ${dialect}${named}" prints`;
};

/**
 * Returns the SQL that creates the tables of `sqlLimits`, `sqlLedger` and `sqlCheckpoint`, with one statement per line.
 * You can run the SQL more than once. In SQLite and D1, run it with `exec`, because a prepared statement runs only the
 * first of the statements.
 *
 * @param tables - the names of the tables to create. Default: all tables, under their default names.
 * @throws ConfigurationError naming every fault of the arguments at once.
 * @example
 * ```ts
 * import { migration } from "touchpoint-sdk/sql";
 *
 * console.log(migration("postgres", { ledger: "once_keys" }));
 * ```
 */
export const migration = (dialect: SqlDialect, tables: MigrationTables = defaultTables): string => {
  const names = tables ?? defaultTables;
  const faults = ruleFaults(names, { limits: mustBeTable, ledger: mustBeTable, checkpoint: mustBeTable });
  refuseSetup("migration", [...mustBeDialect(dialect, "dialect"), ...faults]);
  const { limits, ledger, checkpoint } = names;
  return [
    limits === undefined ? "" : stateTable(limits, "version text NOT NULL"),
    ledger === undefined ? "" : ledgerTable(ledger, dialect),
    checkpoint === undefined ? "" : stateTable(checkpoint),
  ].join("");
};
