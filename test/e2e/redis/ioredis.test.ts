import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisLedger } from "../../../src/redis/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { member } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { RedisServer } from "../../support/redis-server.ts";

const limit = { max: 50, perMs: 1_000 };
const call = requestOn(["requests"]);

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

// Version 5 is another class to the types, with all that is used of version 6.
const clients = [
  ["5", Redis5 as unknown as typeof Redis],
  ["6", Redis],
] as const;

describe.each(clients)("with ioredis %s", (version, Client) => {
  test("a pause is heard without a heartbeat, and the second connection ends with the last listener", async () => {
    const clock = new FakeClock();
    const shared = { id: `pause ${version}`, requests: limit };
    const still = member(server.port, async () => answered(), { ...shared, clock }, Client);
    const paused = async () => answered(429, { "retry-after": "30" });
    const other = member(server.port, paused, shared, Client);
    let isSent = false;
    void still.send(call).then(() => {
      isSent = true;
    });
    // Its clock never moves: what it hears, it hears without a timer.
    while (!isSent) await clock.advance(0);
    const subscribed = async () =>
      (await other.redis.pubsub("NUMSUB", `touchpoint:{${shared.id}}:requests:news`))[1];
    while ((await subscribed()) !== 1) await clock.advance(0);
    await other.send(call);
    while (still.limiter.state().requests.pausedBy === undefined) await clock.advance(0);
    expect(still.limiter.state().requests.pausedBy).toBe("429 on requests");
    await still.limiter.close();
    await other.limiter.close();
    while ((await subscribed()) !== 0) await clock.advance(0);
    still.redis.disconnect();
    other.redis.disconnect();
  });

  test("the ledger keeps a receipt", async () => {
    const redis = new Client(server.port, "127.0.0.1");
    const ledger = redisLedger(redis, { prefix: `ledger ${version} ` });
    const claim = await ledger.claim("welcome", "print");
    expect(claim.state).toBe("claimed");
    await ledger.settle("welcome", "sent", { receipt: { id: "1" } });
    expect(await ledger.claim("welcome", "print")).toMatchObject({ state: "sent", receipt: { id: "1" } });
    redis.disconnect();
  });
});
