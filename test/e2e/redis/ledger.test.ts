import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { redisLedger } from "../../../src/redis/index.ts";
import { RedisServer } from "../../support/redis-server.ts";

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  redis = new Redis(server.port, "127.0.0.1");
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const claimed = async (ledger = redisLedger(redis)): Promise<string> => {
  const claim = await ledger.claim("welcome", "print");
  return claim.state === "claimed" ? claim.claim : "";
};

test("of many who claim a key at once one gets it", async () => {
  const other = redisLedger(redis);
  const claims = await Promise.all(
    Array.from({ length: 20 }, (_, at) => (at % 2 ? other : redisLedger(redis)).claim("welcome", `${at}`)),
  );
  expect(claims.filter(({ state }) => state === "claimed").length).toBe(1);
  expect(claims.filter(({ state }) => state === "pending").length).toBe(19);
});

test("a sent key answers its receipt as it was", async () => {
  const ledger = redisLedger(redis);
  const receipt = { id: "1", cc: [], empty: {}, big: 1e21, text: "ünï" };
  expect(await ledger.settle("welcome", "sent", { claim: await claimed(), receipt })).toBe(true);
  expect(await ledger.claim("welcome", "x")).toEqual({ state: "sent", fingerprint: "print", receipt });
  expect(await ledger.settle("welcome", "not-sent")).toBe(false);
});

test("a key whose email was not sent is free again", async () => {
  const ledger = redisLedger(redis);
  await ledger.settle("welcome", "not-sent", { claim: await claimed() });
  expect((await ledger.claim("welcome", "x")).state).toBe("claimed");
});

test("an unclear key stays taken until a person settles it", async () => {
  const ledger = redisLedger(redis);
  await ledger.settle("welcome", "unknown", { claim: await claimed() });
  expect(await ledger.claim("welcome", "x")).toMatchObject({ state: "unknown", fingerprint: "print" });
  expect(await ledger.settle("welcome", "sent")).toBe(true);
  expect(await ledger.claim("welcome", "x")).toMatchObject({ state: "sent", receipt: undefined });
});

test("a late settlement does not touch a newer claim", async () => {
  const ledger = redisLedger(redis);
  const first = await claimed();
  await ledger.settle("welcome", "not-sent", { claim: first });
  await claimed();
  expect(await ledger.settle("welcome", "sent", { claim: first })).toBe(false);
  expect((await ledger.claim("welcome", "x")).state).toBe("pending");
});

test("a free key has nothing to settle", async () => {
  expect(await redisLedger(redis).settle("welcome", "sent")).toBe(false);
});
