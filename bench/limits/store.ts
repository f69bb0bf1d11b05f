import { Redis } from "ioredis";
import { Pool } from "pg";
import type { SharedLimits } from "../../src/options/shared-limits.ts";
import { type RedisLimitsOptions, redisLimits } from "../../src/redis/index.ts";
import { migration, sqlLimits } from "../../src/sql/index.ts";

/** The server that stores the limits of a fleet: Redis, or PostgreSQL if STORE=postgres is in the environment. */
export interface BenchStore {
  readonly name: string;
  readonly url: string;
  empty(): Promise<void>;
  stop(): Promise<void>;
  again(): Promise<void>;
}

export const startStore = async (): Promise<BenchStore> => {
  if (process.env.STORE !== "postgres") {
    const { RedisServer } = await import("../../test/support/redis-server.ts");
    const server = await RedisServer.start();
    const empty = async (): Promise<void> => {
      const client = new Redis(server.port, "127.0.0.1");
      await client.flushall();
      client.disconnect();
    };
    const url = `redis://127.0.0.1:${server.port}`;
    return { name: "Redis", url, empty, stop: () => server.stop(), again: () => server.again() };
  }
  const { PostgresServer } = await import("../../test/support/postgres-server.ts");
  const server = await PostgresServer.start("fsync=off");
  const run = async (sql: string): Promise<void> => {
    const pool = new Pool({ connectionString: server.url, max: 1 });
    await pool.query(sql);
    await pool.end();
  };
  await run(migration("postgres"));
  return {
    name: "PostgreSQL",
    url: server.url,
    empty: () => run("TRUNCATE touchpoint_limits"),
    stop: () => server.crash(),
    again: () => server.again(),
  };
};

/** Connects to the store at a URL. `open` returns limits, and `close` ends the connections. */
export const limitsAt = (url: string) => {
  if (url.startsWith("redis:")) {
    const redis = new Redis(url);
    // The limits get the error from the command that fails.
    redis.on("error", () => undefined);
    const open = (options: RedisLimitsOptions): SharedLimits => redisLimits(redis, options);
    return { open, close: async () => redis.disconnect() };
  }
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on("error", () => undefined);
  const open = (options: RedisLimitsOptions): SharedLimits =>
    sqlLimits(async (sql, params) => (await pool.query(sql, [...params])).rows, {
      dialect: "postgres",
      ...options,
    });
  return { open, close: () => pool.end() };
};
