import type { SqlDialect } from "../../src/sql/index.ts";

/** An open database. */
export interface Opened {
  /** What the guide's line uses besides `sql` and `params`, by name. */
  readonly handles: Readonly<Record<string, unknown>>;
  close(): unknown;
}

/** One driver. */
export interface Driver {
  readonly dialect: SqlDialect;
  /** Opens the PostgreSQL at a URL, or a database of its own, to which it applies the migration. */
  open(url: string, folder: string, migration: string): Promise<Opened>;
}

export const drivers: Readonly<Record<string, Driver>>;
