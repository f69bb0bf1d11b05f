import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Place } from "../../../src/fleet/place.ts";
import type { Send } from "../../../src/http/types.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { migration, type SqlLimitsOptions, type SqlQuery, sqlLimits } from "../../../src/sql/index.ts";
import { runner } from "../../../src/sql/query.ts";
import { sqlPlace } from "../../../src/sql/sql-place.ts";
import { memberOver } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { keepsThePlaceRules } from "../../support/place-rules.ts";
import { PostgresServer, poolOf, queryOf } from "../../support/postgres-server.ts";
import { compile, root } from "../../support/programs.ts";
import { serviceLimiter } from "../../support/service-limiter.ts";

const dialect = "postgres";
const call = requestOn(["requests"]);
let server: PostgresServer;
let pool: ReturnType<typeof poolOf>;
let ids = 0;

beforeAll(async () => {
  server = await PostgresServer.start("fsync=off");
  pool = poolOf(server.url, 8);
  await pool.query(migration(dialect));
}, 60_000);
afterAll(async () => {
  await pool.end();
  await server.stop();
});

const placeOf = (query: SqlQuery): Place =>
  sqlPlace(runner(query, dialect, "the table touchpoint_limits", ""), "touchpoint_limits", dialect);

describe("PostgreSQL", () => {
  keepsThePlaceRules(() => placeOf(queryOf(pool)));
});

describe("PostgreSQL whose statements may fail to be serialized", () => {
  let strict: ReturnType<typeof poolOf>;
  beforeAll(async () => {
    await pool.query("CREATE DATABASE strict");
    await pool.query("ALTER DATABASE strict SET default_transaction_isolation = 'serializable'");
    strict = poolOf(server.url.replace(/\w+$/, "strict"), 8);
    await strict.query(migration(dialect));
  });
  afterAll(() => strict.end());
  keepsThePlaceRules(() => placeOf(queryOf(strict)));
});

const member = (next: Send, options: Partial<SqlLimitsOptions>, query: SqlQuery = queryOf(pool)) => {
  const one = memberOver(sqlLimits(query, { dialect, id: `${ids}`, ...options }), next, systemClock);
  onTestFinished(() => one.limiter.close());
  return one;
};

/** A service that counts sliding windows by this machine's clock. */
const counting = (max: number, windowMs: number) => {
  ids += 1;
  const limiter = serviceLimiter("sliding", { max, windowMs });
  const next: Send = async () => {
    limiter.ask(1, performance.now());
    return answered();
  };
  return { limiter, next };
};

test("eight clients that share a table send what they should, and never more than the limit", async () => {
  const limit = { max: 20, windowMs: 300 };
  const { limiter, next } = counting(limit.max, limit.windowMs);
  const clients = Array.from({ length: 8 }, () => member(next, { requests: limit }));
  await Promise.all(clients.flatMap(({ send }) => Array.from({ length: 25 }, () => send(call))));
  expect([limiter.accepted, limiter.refused]).toEqual([200, 0]);
});

test("no request exceeds a limit if the replies of committed statements are lost", async () => {
  const limit = { max: 10, windowMs: 300 };
  const { limiter, next } = counting(limit.max, limit.windowMs);
  let statements = 0;
  const cut: SqlQuery = async (sql, params) => {
    const rows = await queryOf(pool)(sql, params);
    statements += 1;
    if (statements % 3 === 0) throw new Error("Connection terminated unexpectedly");
    return rows;
  };
  const clients = Array.from({ length: 3 }, () => member(next, { requests: limit }, cut));
  await Promise.all(clients.flatMap(({ send }) => Array.from({ length: 15 }, () => send(call))));
  expect([limiter.accepted, limiter.refused]).toEqual([45, 0]);
  expect(statements).toBeGreaterThan(20);
});

test("200 clients that make one call each at once get their responses, and none exceeds a limit", async () => {
  const limit = { max: 100, windowMs: 1_000 };
  const { limiter, next } = counting(limit.max, limit.windowMs);
  const clients = Array.from({ length: 200 }, () => member(next, { requests: limit }));
  await Promise.all(clients.map(({ send }) => send(call)));
  expect([limiter.accepted, limiter.refused]).toEqual([200, 0]);
}, 60_000);

test("days are counted together, for limits by id and by scope", async () => {
  const { next } = counting(100, 1);
  const first = member(next, { requestsPerDay: 3 });
  for (let at = 0; at < 2; at += 1) await first.send(call);
  const second = member(next, { requestsPerDay: 3 });
  await second.send(call);
  await expect(second.send(call)).rejects.toMatchObject({ name: "RateLimitError", limit: "requestsPerDay" });
  expect(second.limiter.state().requestsPerDay).toMatchObject({ used: 3, remaining: 0 });
});

test("if processes are killed with their last response, the day's count is exact", async () => {
  const [program = ""] = await compile("limits-killed", [`${root}test/e2e/sql/limits-child.ts`]);
  await pool.query("CREATE TABLE uses AS SELECT 0 AS count");
  const run = async (): Promise<number | null> => {
    const child = spawn(process.execPath, [program, server.url, "killed", "7"], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [code] = await once(child, "exit");
    return code;
  };
  // Four of them use 28 of the 30, the last two of which the fifth and sixth get.
  const codes = await Promise.all(Array.from({ length: 6 }, run));
  expect(codes.filter((code) => code === 3).length).toBeGreaterThanOrEqual(2);
  expect((await pool.query("SELECT count FROM uses")).rows).toEqual([{ count: 30 }]);
  const { limiter, send } = member(async () => answered(), { id: "killed", requestsPerDay: 30 });
  await expect(send(call)).rejects.toMatchObject({ limit: "requestsPerDay" });
  expect(limiter.state().requestsPerDay.used).toBe(30);
});

test("without the table, a call fails at once and says how to create it", async () => {
  const { limiter, next } = counting(100, 1);
  const { send } = member(next, { table: "missing", requests: { max: 1, windowMs: 1 } });
  await expect(send(call)).rejects.toMatchObject({
    name: "ConnectionError",
    outcome: "not-applied",
    message: expect.stringContaining("npx touchpoint ledger migration postgres --limits missing"),
  });
  expect(limiter.accepted).toBe(0);
});

test("an adapter that drops the rows of statements is refused by name", async () => {
  const { limiter, next } = counting(100, 1);
  const { send } = member(next, {}, async (sql, params) => {
    await queryOf(pool)(sql, params);
    return [];
  });
  await expect(send(call)).rejects.toThrow(/the query function must return the rows of every statement/);
  expect(limiter.accepted).toBe(0);
});

test("faults of the arguments are named at once", () => {
  // @ts-expect-error no function, no dialect and no id
  expect(() => sqlLimits(undefined, { table: "a b" })).toThrow(
    /query must be a function.*dialect must be.*table must be.*id must be/s,
  );
});
