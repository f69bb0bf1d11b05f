import type { RedisCommands } from "../../src/redis/index.ts";
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

/** A client of Redis that is neither ioredis nor node-redis. */
interface OpenedRedis {
  readonly redis: RedisCommands;
  close(): void;
}

export const openBunRedis: (url: string) => Promise<OpenedRedis>;
export const openIovalkey: (url: string) => Promise<OpenedRedis>;
/** @param url - of its HTTP interface, which nothing asks. */
export const openUpstash: (url: string) => Promise<OpenedRedis>;
