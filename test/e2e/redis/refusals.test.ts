import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { redisLedger, redisLimits } from "../../../src/redis/index.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { memberOn } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { RedisCluster } from "../../support/redis-cluster.ts";
import { RedisServer } from "../../support/redis-server.ts";

let server: RedisServer;
let cluster: RedisCluster;

beforeAll(async () => {
  [server, cluster] = await Promise.all([RedisServer.start("--requirepass", "secret"), RedisCluster.start()]);
});
afterAll(async () => {
  await Promise.all([server.stop(), cluster.stop()]);
});

interface Login {
  readonly username?: string;
  readonly password?: string;
}

const connected = (port: number, options: Login = {}): Redis => {
  const redis = new Redis(port, "127.0.0.1", options);
  redis.on("error", () => undefined);
  onTestFinished(() => redis.disconnect());
  return redis;
};

const join = (port: number, options: Login, { id = "fleet", maxLostMs = 60_000 } = {}) =>
  memberOn(connected(port, options), async () => answered(), { id, maxLostMs }, systemClock);

/** A port of the cluster whose node has not got the keys of the limits. */
const elsewhere = async (): Promise<number> => {
  const [one = { port: 0 }, other = { port: 0 }] = cluster.nodes;
  const slot = await connected(one.port).cluster("KEYSLOT", "{limits}");
  return slot < 8_192 ? other.port : one.port;
};

const decides = 'Because onLost is "closed", calls fail at once, because waiting cannot help';

test.each([
  ["NOAUTH", "pass the password to the Redis client", () => join(server.port, {})],
  ["WRONGPASS", "pass the right user name", () => join(server.port, { password: "x" })],
  [
    "NOPERM",
    "allow the Redis user +eval",
    async () => {
      const admin = connected(server.port, { password: "secret" });
      await admin.acl("SETUSER", "reader", "on", ">x", "~*", "+@read", "+info");
      return join(server.port, { username: "reader", password: "x" });
    },
  ],
  ["MOVED", "it is a cluster", async () => join(await elsewhere(), {})],
] as const)(
  "%s, which is permanent, refuses calls at once and names the remedy",
  async (code, advice, make) => {
    const { send } = await make();
    const refusal: unknown = await send(requestOn(["requests"])).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      name: "ConnectionError",
      outcome: "not-applied",
      message: expect.stringContaining(`Redis, which shares the limits, replied: ${code} `),
      cause: { message: expect.stringContaining(code) },
    });
    expect(refusal).toMatchObject({ message: expect.stringContaining(advice) });
    expect(refusal).toMatchObject({ message: expect.stringContaining(decides) });
  },
);

test.each(["EVAL", "EVALSHA", "GET", "SET", "TIME"])(
  "a Redis without %s refuses calls at once, names the remedy, and shows no argument",
  async (command) => {
    const lacking = await RedisServer.start("--rename-command", command, "");
    onTestFinished(() => lacking.stop());
    const sandbox = createSandbox({ apiKeys: ["k"] });
    const options = { apiKey: "k", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch };
    const redis = connected(lacking.port);
    const sender = new Client({ ...options, ledger: redisLedger(redis) });
    const limited = new Client({
      ...options,
      limits: redisLimits(redis, { id: "crm", maxLostMs: 3_600_000 }),
    });
    const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
    const attempts = [
      () => sender.emails.send(email, { once: "welcome:ada@example.com" }),
      () => limited.contacts.find("ada@example.com"),
    ];
    for (const attempt of attempts) {
      const refusal: unknown = await attempt().catch((error: unknown) => error);
      expect(refusal).toMatchObject({
        outcome: "not-applied",
        message: expect.stringContaining("(Redis must have the commands eval, evalsha, get, set and time"),
      });
      expect(refusal).not.toMatchObject({ message: expect.stringContaining("ada@example.com") });
    }
    expect(sandbox.state.emails.length).toBe(0);
    await Promise.all([sender.close(), limited.close()]);
  },
);

test.each([
  ["OOM", "increase its maxmemory", ["--maxmemory", "1"]],
  ["READONLY", "connect to the primary", ["--replicaof", "127.0.0.1 1"]],
])("%s is waited out for maxLostMs, and then reported", async (code, advice, options) => {
  const full = await RedisServer.start(...options);
  onTestFinished(() => full.stop());
  const { limiter, send } = join(full.port, {}, { maxLostMs: 300 });
  const began = performance.now();
  const refusal: unknown = await send(requestOn(["requests"])).catch((error: unknown) => error);
  expect(performance.now() - began).toBeGreaterThanOrEqual(300);
  expect(refusal).toMatchObject({
    name: "ConnectionError",
    cause: { message: expect.stringContaining(code) },
  });
  expect(refusal).toMatchObject({ message: expect.stringContaining(advice) });
  await limiter.close();
});

test("a ledger in a full Redis that evicts nothing sends nothing, and says what to do", async () => {
  const full = await RedisServer.start("--maxmemory", "1");
  onTestFinished(() => full.stop());
  const sandbox = createSandbox({ apiKeys: ["k"] });
  const ledger = redisLedger(connected(full.port));
  const client = new Client({ apiKey: "k", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch, ledger });
  const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
  await expect(client.emails.send(email, { once: "hi:1" })).rejects.toMatchObject({
    ...{ name: "ConnectionError", outcome: "not-applied" },
    message: expect.stringContaining("(it is full: increase its maxmemory)"),
  });
  await connected(full.port).config("SET", "maxmemory", "0");
  await client.emails.send(email, { once: "hi:1" });
  expect(sandbox.state.emails.length).toBe(1);
  await client.close();
});

test("if Redis refuses, the error of every ledger method names Redis and the remedy", async () => {
  const ledger = redisLedger(connected(server.port));
  const attempts = {
    claim: ledger.claim("welcome", "print"),
    settle: ledger.settle("welcome", "sent"),
    release: ledger.release("welcome"),
    get: ledger.get("welcome"),
    list: ledger.list()[Symbol.asyncIterator]().next(),
    settleScheduled: ledger.settleScheduled?.("s1", "not-sent"),
  };
  const messages = await Promise.all(
    Object.values(attempts).map((attempt) => attempt?.then(String, ({ message }: Error) => message)),
  );
  expect(
    messages.filter(
      (message) =>
        !/^(redisLedger: the self-test of the store failed: )?Redis, which stores the ledger, replied: NOAUTH .*the password to the Redis client\)$/.test(
          String(message),
        ),
    ),
  ).toEqual([]);
});
