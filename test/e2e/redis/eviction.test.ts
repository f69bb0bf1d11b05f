import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { redisLedger } from "../../../src/redis/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { clients } from "../../support/redis-clients.ts";
import { RedisServer } from "../../support/redis-server.ts";

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.port, "127.0.0.1");
});
beforeEach(async () => {
  await admin.flushall();
  await admin.config("SET", "maxmemory", "50mb", "maxmemory-policy", "allkeys-lru");
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

describe.each(clients)("with %s", (_name, connect) => {
  test("a ledger refuses a Redis that evicts keys, and accepts it once it no longer does", async () => {
    const ledger = redisLedger(await connect(server.port));
    await expect(ledger.claim("welcome", "print")).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining("evicts keys (maxmemory-policy allkeys-lru)"),
    });
    expect(await ledger.get("welcome")).toBe(undefined);
    await admin.config("SET", "maxmemory-policy", "noeviction");
    expect((await ledger.claim("welcome", "print")).state).toBe("claimed");
  });

  test("a Redis that may use all memory evicts nothing", async () => {
    await admin.config("SET", "maxmemory", "0");
    const ledger = redisLedger(await connect(server.port));
    expect((await ledger.claim("welcome", "print")).state).toBe("claimed");
  });

  test("allowEviction accepts a Redis that evicts keys", async () => {
    const ledger = redisLedger(await connect(server.port), { allowEviction: true });
    expect((await ledger.claim("welcome", "print")).state).toBe("claimed");
  });
});

test("a send over a Redis that evicts keys fails with a ConfigurationError", async () => {
  const redis = new Redis(server.port, "127.0.0.1");
  const sandbox = createSandbox({ apiKeys: ["k"] });
  const options = { apiKey: "k", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch };
  const client = new Client({ ...options, ledger: redisLedger(redis) });
  onTestFinished(async () => {
    await client.close();
    redis.disconnect();
  });
  const send = client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hi" }, { once: "1" });
  await expect(send).rejects.toMatchObject({
    name: "ConfigurationError",
    outcome: "not-applied",
    message: expect.stringContaining("evicts keys (maxmemory-policy allkeys-lru)"),
  });
  expect(sandbox.state.emails).toEqual([]);
});

test("a ledger that cannot check for eviction logs so once", async () => {
  await admin.acl("SETUSER", "sender", "on", ">x", "~*", "+@all", "-info");
  const redis = new Redis(server.port, "127.0.0.1", {
    username: "sender",
    password: "x",
    enableReadyCheck: false,
  });
  const warnings: string[] = [];
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, error: ignore, warn: (text: string) => warnings.push(text) };
  const sandbox = createSandbox({ apiKeys: ["k"] });
  const client = new Client({
    apiKey: "k",
    baseUrl: "http://127.0.0.1",
    fetch: sandbox.fetch,
    ledger: redisLedger(redis),
    logger,
  });
  onTestFinished(async () => {
    await client.close();
    redis.disconnect();
  });
  const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
  for (const once of ["1", "2"]) await client.emails.send(email, { once });
  expect(sandbox.state.emails.length).toBe(2);
  expect(warnings).toEqual(["touchpoint: redisLedger cannot check whether Redis evicts keys (INFO memory)"]);
});
