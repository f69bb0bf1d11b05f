import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type CheckpointStore, Client } from "../../../src/index.ts";
import { type RedisCommands, redisCheckpoint } from "../../../src/redis/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { compile, root } from "../../support/programs.ts";
import { clients, clusters } from "../../support/redis-clients.ts";
import { RedisCluster } from "../../support/redis-cluster.ts";
import { RedisServer } from "../../support/redis-server.ts";

const [program = ""] = await compile("checkpoint", [`${root}test/e2e/redis/checkpoint-child.ts`]);
const key = "touchpoint:checkpoint:events";

let directory = "";
let server: RedisServer;
let cluster: RedisCluster;
let admin: Redis;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "redis-checkpoint-"));
  [server, cluster] = await Promise.all([
    RedisServer.start("--appendonly", "yes", "--appendfsync", "always", "--dir", directory),
    RedisCluster.start(),
  ]);
  admin = new Redis(server.port, "127.0.0.1", { retryStrategy: () => 20 });
  admin.on("error", () => undefined);
});
beforeEach(() => admin.flushall());
afterAll(async () => {
  admin.disconnect();
  await Promise.all([server.stop(), cluster.stop()]);
  await rm(directory, { recursive: true });
});

const continues = async (redis: RedisCommands, name: string): Promise<void> => {
  const [one, other] = ["one", "other"].map((id) => redisCheckpoint(redis, { id: `${id} of ${name}` }));
  expect(await one?.load()).toBe(undefined);
  const state = { version: 1, done: 200, last: "ünï", ids: { from: "content", last: "a" } } as const;
  await one?.save({ version: 1, done: 100, last: null });
  await one?.save(state);
  expect([await one?.load(), await other?.load()]).toEqual([state, undefined]);
};

test.each(clients)("%s keeps the newest state of each run", async (name, connect) => {
  const redis = await connect(server.port);
  await continues(redis, name);
  await admin.script("FLUSH");
  await continues(redis, `${name} again`);
});

test.each(clusters)("a cluster of %s keeps the newest state of each run", async (name, connect) => {
  await continues(await connect(cluster.nodes[0]?.port ?? 0), name);
});

const stored = (): CheckpointStore => redisCheckpoint(admin, { id: "events" });

describe("a value that is no checkpoint of this version is refused, and left as it is", () => {
  test.each([
    [
      "newer",
      '{"version":2,"done":1,"last":null}',
      "was saved by a newer touchpoint-sdk (version 2 of checkpoints)",
    ],
    [
      "foreign",
      '{"lastId":"4711"}',
      "is damaged or is not a checkpoint. Check whether another program writes to it",
    ],
    ["torn", '{"version":1,"do', "is cut short or is not JSON. To start over, delete the checkpoint"],
    ["empty", "", "is cut short or is not JSON"],
    ["null", "null", "is damaged or is not a checkpoint"],
  ])("%s", async (_what, text, why) => {
    await admin.set(key, text);
    const sandbox = createSandbox({ apiKeys: ["k"] });
    const client = new Client({ apiKey: "k", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch });
    const event = { name: "seen", contact: { email: "ada@example.com" } };
    await expect(client.events.ingest([event], { checkpoint: stored() })).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining(`the checkpoint ${key} in Redis ${why}`),
    });
    expect([sandbox.state.events.length, await admin.get(key)]).toEqual([0, text]);
    await client.close();
  });

  test("of another type", async () => {
    await admin.lpush(key, "x");
    await expect(stored().load()).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringMatching(
        /^Redis, which stores the checkpoint touchpoint:checkpoint:events, replied: WRONGTYPE .*\(another program/,
      ),
    });
  });
});

test("if Redis refuses, the error names Redis and the remedy", async () => {
  await admin.acl("SETUSER", "reader", "on", ">x", "~*", "+@read", "+info");
  const redis = new Redis(server.port, "127.0.0.1", { username: "reader", password: "x" });
  onTestFinished(() => redis.disconnect());
  await expect(
    redisCheckpoint(redis, { id: "events" }).save({ version: 1, done: 1, last: null }),
  ).rejects.toThrow(/^Redis, which stores the checkpoint .*NOPERM .*\(allow the Redis user \+eval/);
});

test("invalid arguments are refused at once, all in one error", () => {
  const given = [{}, { id: "", prefix: "x" }];
  expect(() => Reflect.apply(redisCheckpoint, undefined, given)).toThrow(
    'redisCheckpoint: redis must be a client of ioredis or node-redis; there is no option "prefix"; ' +
      'id must be a non-empty string, got ""',
  );
  expect(() => Reflect.apply(redisCheckpoint, undefined, [admin])).toThrow(
    "id must be a non-empty string, got undefined",
  );
});

test("an ingestion continues in another process after it and its Redis were killed", async () => {
  const sandbox = createSandbox({ apiKeys: ["k"], limits: false, latencyMs: 5 });
  sandbox.addContact({ email: "ada@example.com" });
  const { url, close } = await sandbox.listen();
  onTestFinished(close);
  const start = () => {
    const args = [program, url, String(server.port), "1000"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout.on("data", (text) => {
      output += String(text);
    });
    const ended = new Promise<string>((resolve) => child.once("close", () => resolve(output)));
    return { child, ended };
  };
  const doneBy = async (): Promise<number> => Number(Object((await stored().load()) ?? { done: 0 }).done);
  for (const until of [200, 500]) {
    const { child, ended } = start();
    while ((await doneBy()) < until);
    child.kill("SIGKILL");
    expect(await ended).toBe("");
    await server.stop();
    await server.again();
  }
  const before = await doneBy();
  expect(before).toBeGreaterThanOrEqual(500);
  expect(before).toBeLessThan(1_000);
  const report = JSON.parse(await start().ended);
  expect(report).toMatchObject({ read: 1_000, skipped: before, rejected: 0, unknown: 0 });
  const seen = sandbox.state.events
    .map(({ properties }) => Number(properties?.at))
    .sort((one, other) => one - other);
  expect(seen).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
  expect(await doneBy()).toBe(1_000);
});
