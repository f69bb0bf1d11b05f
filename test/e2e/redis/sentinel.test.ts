// Needs the program: redis-server
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { createSentinel } from "redis";
import { expect, onTestFinished, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { type RedisCommands, redisLedger } from "../../../src/redis/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { freePort } from "../../support/free-port.ts";
import { RedisServer } from "../../support/redis-server.ts";

/** A sentinel of its own over a primary, which it takes for dead after 200 ms. Returns its port. */
const startSentinel = async (primary: RedisServer): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), "touchpoint-sentinel-"));
  const port = await freePort();
  const settings = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    `sentinel monitor crm 127.0.0.1 ${primary.port} 1`,
    "sentinel down-after-milliseconds crm 200",
    "sentinel failover-timeout crm 2000",
  ];
  const file = join(folder, "sentinel.conf");
  await writeFile(file, `${settings.join("\n")}\n`);
  const sentinel = spawn("redis-server", [file, "--sentinel"], { stdio: "ignore" });
  onTestFinished(async () => {
    const exited = once(sentinel, "exit");
    sentinel.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true });
  });
  return port;
};

const connects: readonly (readonly [string, (port: number) => Promise<RedisCommands>])[] = [
  [
    "ioredis",
    async (port) => {
      const sentinels = [{ host: "127.0.0.1", port }];
      const redis = new Redis({ sentinels, name: "crm", sentinelRetryStrategy: () => 50 });
      redis.on("error", () => undefined);
      onTestFinished(() => redis.disconnect());
      return redis;
    },
  ],
  [
    "node-redis",
    async (port) => {
      const sentinelRootNodes = [{ host: "127.0.0.1", port }];
      const redis = createSentinel({ name: "crm", sentinelRootNodes, scanInterval: 50 });
      redis.on("error", () => undefined);
      await redis.connect();
      onTestFinished(() => redis.destroy());
      return redis;
    },
  ],
];

test.each(connects)(
  "a ledger of %s continues with the replica that Sentinel promotes",
  async (_name, connect) => {
    const primary = await RedisServer.start();
    const replica = await RedisServer.start("--replicaof", `127.0.0.1 ${primary.port}`);
    onTestFinished(() => Promise.all([primary.stop(), replica.stop()]).then(() => undefined));
    const port = await startSentinel(primary);
    const [onPrimary, onReplica, watch] = [primary.port, replica.port, port].map((one) => {
      const redis = new Redis(one, "127.0.0.1", { retryStrategy: () => 20 });
      redis.on("error", () => undefined);
      onTestFinished(() => redis.disconnect());
      return redis;
    });
    // Sentinel learns of the replica from the primary.
    await expect.poll(() => watch?.call("SENTINEL", "REPLICAS", "crm"), { timeout: 30_000 }).toHaveLength(1);
    await expect.poll(() => onReplica?.info("replication"), { timeout: 30_000 }).toContain("link_status:up");

    const sandbox = createSandbox({ apiKeys: ["k"] });
    const ledger = redisLedger(await connect(port));
    const client = new Client({ apiKey: "k", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch, ledger });
    onTestFinished(async () => void (await client.close()));
    const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
    const first = await client.emails.send(email, { once: "hi:1" });
    await onPrimary?.wait(1, 0);
    await primary.stop();

    const again = () => client.emails.send(email, { once: "hi:1" }).catch(() => undefined);
    await expect.poll(again, { timeout: 30_000 }).toEqual(first);
    await expect.poll(() => ledger.get("hi:1"), { timeout: 30_000 }).toMatchObject({ state: "sent" });
    const next = () => client.emails.send(email, { once: "hi:2" }).then(() => "sent", String);
    await expect.poll(next, { timeout: 30_000 }).toBe("sent");
    expect(sandbox.state.emails.length).toBe(2);
  },
);
