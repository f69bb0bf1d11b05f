import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { redisCheckpoint, redisLedger, redisLimits } from "../../src/redis/index.ts";
import { RedisServer } from "../support/redis-server.ts";
import { openIovalkey, openUpstash } from "./drivers.mjs";
import { prove, proven, redisStores } from "./proof.ts";

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

let server: RedisServer;
let url = "";

beforeAll(async () => {
  server = await RedisServer.start();
  url = `redis://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop());

test("iovalkey sends each email once", async () => {
  const { redis, close } = await openIovalkey(`${url}/1`);
  onTestFinished(close);
  expect(await prove(redisStores(redis))).toEqual(proven);
});

test("Bun's RedisClient sends each email once", async () => {
  const bun = at("node_modules/@oven/bun-linux-x64/bin/bun");
  const { stdout } = await run(bun, [at("bun-child.ts"), "RedisClient", `${url}/2`]);
  expect(JSON.parse(stdout)).toEqual(proven);
});

test("@upstash/redis is refused by name", async () => {
  const { redis } = await openUpstash("https://name.upstash.io");
  const refusal = "redis must not be a client of @upstash/redis: pass an ioredis client";
  expect(() => redisLedger(redis)).toThrow(`redisLedger: ${refusal}`);
  expect(() => redisCheckpoint(redis, { id: "events" })).toThrow(`redisCheckpoint: ${refusal}`);
  expect(() => redisLimits(redis, { id: "crm" })).toThrow(`redisLimits: ${refusal}`);
});
