export { type MigrationTables, migration } from "./migration.ts";
export type { SqlDialect, SqlQuery } from "./query.ts";
export { type SqlCheckpointOptions, sqlCheckpoint } from "./sql-checkpoint.ts";
export { type SqlLedgerOptions, sqlLedger } from "./sql-ledger.ts";
export { type SqlLimitsOptions, sqlLimits } from "./sql-limits.ts";
