import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RedisCommands, redisLedger } from "../../../src/redis/index.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { turn } from "../../support/fake-clock.ts";
import { memberOn } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { clients, clusters } from "../../support/redis-clients.ts";
import { RedisCluster } from "../../support/redis-cluster.ts";
import { RedisServer } from "../../support/redis-server.ts";

const limit = { max: 50, windowMs: 1_000 };
const call = requestOn(["requests"]);

let server: RedisServer;
let cluster: RedisCluster;
let admin: Redis;

beforeAll(async () => {
  [server, cluster] = await Promise.all([RedisServer.start(), RedisCluster.start()]);
  admin = new Redis(server.port, "127.0.0.1");
});
beforeEach(() => admin.flushall());
afterAll(async () => {
  admin.disconnect();
  await Promise.all([server.stop(), cluster.stop()]);
});

const nodePort = (): number => cluster.nodes[0]?.port ?? 0;

const keepsReceipts = async (redis: RedisCommands, prefix: string): Promise<void> => {
  const ledger = redisLedger(redis, { prefix });
  for (const key of ["welcome", "goodbye", "a*[b]"]) {
    expect((await ledger.claim(key, "print")).state).toBe("claimed");
    await ledger.settle(key, "sent", { force: true, receipt: { id: key } });
  }
  expect(await ledger.claim("welcome", "print")).toMatchObject({ state: "sent", receipt: { id: "welcome" } });
  const listed: string[] = [];
  for await (const { key } of ledger.list()) listed.push(key);
  expect(listed.sort()).toEqual(["a*[b]", "goodbye", "welcome"]);
};

describe.each(clients)("with %s", (name, connect) => {
  test("a pause that another process caused delays the next call", async () => {
    const shared = { id: `pause ${name}`, requests: limit };
    const paused = async () => answered(429, { "retry-after": "30" });
    const other = memberOn(await connect(server.port), paused, shared, systemClock);
    await other.send(call);
    const held = memberOn(await connect(server.port), async () => answered(), shared, systemClock);
    const ending = new AbortController();
    const waiting = held.send(requestOn(["requests"], { signal: ending.signal })).catch(() => "held");
    while (held.limiter.state().requests.pausedBy === undefined) await turn();
    expect(held.limiter.state().requests.pausedBy).toBe("429 on requests");
    ending.abort();
    expect(await waiting).toBe("held");
    await Promise.all([held.limiter.close(), other.limiter.close()]);
  });

  test("the ledger keeps and lists receipts after a flush of the scripts", async () => {
    const redis = await connect(server.port);
    await keepsReceipts(redis, `ledger ${name} `);
    await admin.script("FLUSH");
    await keepsReceipts(redis, `again ${name} `);
  });

  test("a Redis that is gone is out of reach", async () => {
    const gone = await RedisServer.start();
    const redis = await connect(gone.port);
    const { limiter, send } = memberOn(
      redis,
      async () => answered(),
      { id: "gone", requests: { max: 1_000_000, windowMs: 1_000 }, maxLostMs: 0 },
      systemClock,
    );
    const outcome = () =>
      send(call).then(
        () => "sent",
        ({ message }) => String(message),
      );
    expect(await outcome()).toBe("sent");
    await gone.stop();
    let last = "sent";
    while (last === "sent") [last] = await Promise.all([outcome(), turn()]);
    expect(last).toMatch(/Redis, which shares the limits, (is unreachable: |has not responded for )/);
    await limiter.close();
  });
});

describe.each(clients.filter(([name]) => name !== "node-redis 5"))(
  "with a keyPrefix of %s",
  (_name, connect) => {
    test("the ledger lists its keys and no others", async () => {
      await keepsReceipts(await connect(server.port), "sent:");
      await keepsReceipts(await connect(server.port, { keyPrefix: "tenant*1:" }), "also sent:");
      // The freed key of the first use stays for ten minutes.
      const kept = (await admin.keys("tenant*1:also sent:*")).filter((key) => !key.includes("self-test"));
      expect(kept.length).toBe(3);
    });
  },
);

describe.each(clusters)("with a cluster of %s", (name, connect) => {
  test("limits are shared and the ledger is listed over all nodes", async () => {
    const redis = await connect(nodePort());
    const { limiter, send } = memberOn(
      redis,
      async () => answered(),
      { id: name, requests: limit },
      systemClock,
    );
    expect((await send(call)).status).toBe(200);
    await limiter.close();
    await keepsReceipts(redis, `sent ${name} `);
  });
});

test.each(clusters.filter(([name]) => name !== "node-redis 5"))(
  "with a keyPrefix of a cluster of %s the ledger lists its keys and no others",
  async (name, connect) => {
    await keepsReceipts(await connect(nodePort()), `mail ${name}:`);
    await keepsReceipts(await connect(nodePort(), { keyPrefix: "tenant*1:" }), `other mail ${name}:`);
  },
);
