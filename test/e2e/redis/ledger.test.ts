import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { redisLedger } from "../../../src/redis/index.ts";
import { keepsTheRules } from "../../support/ledger-rules.ts";
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

describe("a ledger in Redis", () => keepsTheRules(() => redisLedger(redis)));

const claimed = async (ledger = redisLedger(redis)): Promise<string> => {
  const claim = await ledger.claim("welcome", "print");
  return claim.state === "claimed" ? claim.claim : "";
};

test("only one of many ledgers that claim a key at once gets it", async () => {
  const claims = await Promise.all(
    Array.from({ length: 20 }, (_, at) => redisLedger(redis).claim("welcome", `${at}`)),
  );
  expect(claims.filter(({ state }) => state === "claimed").length).toBe(1);
  expect(claims.filter(({ state }) => state === "pending").length).toBe(19);
});

test("a sent key returns its receipt unchanged", async () => {
  const ledger = redisLedger(redis);
  const receipt = { id: "1", cc: [], empty: {}, big: 1e21, text: "ünï" };
  expect(await ledger.settle("welcome", "sent", { claim: await claimed(), receipt })).toBe(true);
  expect(await ledger.claim("welcome", "x")).toEqual({
    ...{ state: "sent", fingerprint: "print", since: expect.any(Number), receipt },
  });
});

test("a client of node-redis 2 or 3, which returns no promises, is refused by name", () => {
  const method = (): boolean => true;
  const old = { eval: method, evalsha: method, internal_send_command: method };
  expect(() => Reflect.apply(redisLedger, undefined, [old])).toThrow(
    "redisLedger: redis must not be a client of node-redis 2 or 3: pass one of version 5 or later, or of ioredis",
  );
});

test("invalid arguments are refused at once, all in one error", () => {
  const given = [{}, { prefx: "sent:", prefix: 1 }];
  expect(() => Reflect.apply(redisLedger, undefined, given)).toThrow(
    'redisLedger: redis must be a client of ioredis or node-redis; there is no option "prefx" (did you mean "prefix"?); prefix must be a string, got 1',
  );
  expect(() => Reflect.apply(redisLedger, undefined, [redis, null])).not.toThrow();
});

// Version 5 is another class to the types, with all that is used of version 6.
const clients = [
  ["5", Redis5 as unknown as typeof Redis],
  ["6", Redis],
] as const;

describe.each(clients)("over a connection that breaks before the answer, ioredis %s", (_version, Client) => {
  /** A client behind a relay that, once it is told to, drops one answer and the connection with it. */
  const breaking = async (options: object = {}) => {
    let isBreaking = false;
    const relay = createServer((near) => {
      const far = connect(server.port, "127.0.0.1");
      near.pipe(far);
      far.on("data", (answer) => {
        if (isBreaking) near.destroy();
        else near.write(answer);
        isBreaking = false;
      });
      near.on("close", () => far.destroy());
      for (const socket of [near, far]) socket.on("error", () => undefined);
    }).listen(0, "127.0.0.1");
    await once(relay, "listening");
    // Listening on a port, not on a pipe.
    const { port } = relay.address() as AddressInfo;
    const client = new Client(port, "127.0.0.1", options);
    client.on("error", () => undefined);
    onTestFinished(() => {
      client.disconnect();
      relay.close();
    });
    const breakOnce = (): void => {
      isBreaking = true;
    };
    // The scripts are known by now, so that each command is sent once.
    const warm = redisLedger(client, { prefix: "warm:" });
    await warm.claim("welcome", "print");
    await warm.settle("welcome", "not-sent", { force: true });
    return { client, breakOnce };
  };

  test("a repeated claim recognizes itself", async () => {
    const { client, breakOnce } = await breaking();
    breakOnce();
    expect(await redisLedger(client).claim("welcome", "print")).toMatchObject({ state: "claimed" });
  });

  test.each(["sent", "unknown", "not-sent"] as const)(
    "a settlement as %s that is sent again took effect",
    async (settlement) => {
      const { client, breakOnce } = await breaking();
      const claim = await claimed();
      breakOnce();
      expect(await redisLedger(client).settle("welcome", settlement, { claim })).toBe(true);
    },
  );

  test("a repeated manual settlement does not change a claim that was made in between", async () => {
    const { client, breakOnce } = await breaking({ retryStrategy: () => 50 });
    await claimed();
    const settle = client.evalsha.bind(client);
    let commands = 0;
    client.evalsha = ((...given: Parameters<typeof settle>) => {
      commands += 1;
      // The first command reads the claim.
      if (commands === 2) {
        breakOnce();
        client.once("close", () => void redisLedger(redis).claim("welcome", "next"));
      }
      return settle(...given);
    }) as typeof client.evalsha;
    await redisLedger(client).settle("welcome", "not-sent", { force: true });
    expect(await redisLedger(redis).claim("welcome", "x")).toMatchObject({
      state: "pending",
      fingerprint: "next",
    });
  });

  test("the key of a failed claim is freed as soon as Redis is reachable again", async () => {
    const { client, breakOnce } = await breaking({ maxRetriesPerRequest: 0, retryStrategy: () => 10 });
    breakOnce();
    await expect(redisLedger(client).claim("welcome", "print")).rejects.toThrow();
    const other = redisLedger(redis);
    let state = "pending";
    while (state === "pending") ({ state } = await other.claim("welcome", "print"));
    expect(state).toBe("claimed");
  });
});
