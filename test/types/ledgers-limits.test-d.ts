import type { Redis } from "ioredis";
import type { Redis as Redis5 } from "ioredis5";
import {
  type CheckpointStore,
  type ClaimLedger,
  Client,
  fileLedger,
  type Ledger,
  type LedgerClaim,
  type LedgerRow,
  memoryLedger,
  type SharedLimits,
} from "touchpoint-sdk";
import { type RedisCommands, redisCheckpoint, redisLedger, redisLimits } from "touchpoint-sdk/redis";
import { migration, type SqlQuery, sqlLimits } from "touchpoint-sdk/sql";
import { expectTypeOf, test } from "vitest";

declare const redis: Redis;

test("a ledger is kept in memory, in a file or in Redis", () => {
  expectTypeOf(memoryLedger()).toEqualTypeOf<Ledger>();
  expectTypeOf(fileLedger("sent.ndjson")).toEqualTypeOf<Ledger>();
  expectTypeOf(redisLedger(redis, { prefix: "sent:" })).toEqualTypeOf<Ledger>();
  new Client({ ledger: fileLedger("sent.ndjson") });
  // @ts-expect-error a ledger, not its path
  new Client({ ledger: "sent.ndjson" });
  // @ts-expect-error memory has no path
  memoryLedger("sent.ndjson");
  // @ts-expect-error the path is required
  fileLedger();
  // @ts-expect-error it has no options
  fileLedger("sent.ndjson", { prefix: "sent:" });
  // @ts-expect-error a connection, not an address
  redisLedger("redis://cache.example");
  // @ts-expect-error no such option
  redisLedger(redis, { id: "key" });
});

test("a ledger claims a key, and is settled by hand in known words", () => {
  const ledger = memoryLedger();
  expectTypeOf(ledger.claim("key", "fingerprint")).resolves.toEqualTypeOf<LedgerClaim>();
  expectTypeOf(ledger.settle("key", "not-sent")).resolves.toEqualTypeOf<boolean>();
  ledger.settle("key", "sent", { receipt: { id: "e1" } });
  // @ts-expect-error what would be sent under the key?
  ledger.claim("key");
  // @ts-expect-error how did it end?
  ledger.settle("key");
  // @ts-expect-error no such end
  ledger.settle("key", "refused");
  // @ts-expect-error details are named
  ledger.settle("key", "sent", "e1");
});

test("a ledger returns the states of its keys", () => {
  const ledger = memoryLedger();
  expectTypeOf(ledger.get("key")).resolves.toEqualTypeOf<LedgerRow | undefined>();
  expectTypeOf(ledger.list({ state: "unknown", since: new Date() })).toExtend<AsyncIterable<LedgerRow>>();
  expectTypeOf<LedgerRow["state"]>().toEqualTypeOf<"pending" | "unknown" | "sent">();
  ledger.list({ since: "2026-03-02" });
  expectTypeOf(ledger.release("key")).resolves.toEqualTypeOf<boolean>();
  // @ts-expect-error a free key has no row
  ledger.list({ state: "free" });
  // @ts-expect-error a time, not a number
  ledger.list({ since: 5 });
});

test("a ledger of one's own needs two methods", () => {
  const own: ClaimLedger = {
    claim: async () => ({ state: "claimed", claim: "1" }),
    settle: async () => true,
  };
  new Client({ ledger: own });
  // @ts-expect-error without a way to settle
  new Client({ ledger: { claim: own.claim } });
});

test("limits are shared by a name, over ioredis 5 and 6", () => {
  expectTypeOf<Redis>().toExtend<RedisCommands>();
  expectTypeOf<Redis5>().toExtend<RedisCommands>();
  const limits = redisLimits(redis, {
    id: "key",
    onLost: "open",
    share: 0.5,
    emails: { max: 5, windowMs: 60_000 },
  });
  new Client({ limits });
  // @ts-expect-error a connection, not its settings
  redisLimits({ host: "cache.example" }, { id: "key" });
  // @ts-expect-error shared by whom?
  redisLimits(redis);
  // @ts-expect-error the id is required
  redisLimits(redis, { onLost: "closed" });
  // @ts-expect-error lost limits are open or closed
  redisLimits(redis, { id: "key", onLost: "ignore" });
  // @ts-expect-error so many in such a time
  redisLimits(redis, { id: "key", emails: 5 });
  // @ts-expect-error no such limit
  redisLimits(redis, { id: "key", mails: { max: 5, windowMs: 60_000 } });
});

test("limits are shared through a table, over a function that runs a statement", () => {
  const query: SqlQuery = async () => [];
  const limits = sqlLimits(query, { dialect: "sqlite", id: "key", table: "limits", requestsPerDay: 5 });
  expectTypeOf(limits).toEqualTypeOf<SharedLimits>();
  new Client({ limits });
  migration("postgres", { limits: "limits" });
  // @ts-expect-error shared by whom?
  sqlLimits(query, { dialect: "postgres" });
  // @ts-expect-error no such dialect
  sqlLimits(query, { dialect: "mysql", id: "key" });
  // @ts-expect-error a connection, not a function of it
  sqlLimits({ host: "database.example" }, { dialect: "postgres", id: "key" });
});

test("a checkpoint in Redis is a store for runs", () => {
  const checkpoint = redisCheckpoint(redis, { id: "events.ndjson" });
  expectTypeOf(checkpoint).toEqualTypeOf<CheckpointStore>();
  new Client().events.ingest([], { checkpoint });
  new Client().contacts.import([], { checkpoint });
  // @ts-expect-error of which run?
  redisCheckpoint(redis);
  // @ts-expect-error an option, not the id itself
  redisCheckpoint(redis, "events.ndjson");
  // @ts-expect-error no such option
  redisCheckpoint(redis, { id: "events.ndjson", prefix: "runs:" });
});
