import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { type RedisCommands, redisCheckpoint, redisLedger, redisLimits } from "../../../src/redis/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { RedisServer } from "../../support/redis-server.ts";

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.port, "127.0.0.1");
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

/** What the advice of a NOPERM says. */
const advised = ["+eval", "+evalsha", "+get", "+set", "+time", "+scan", "+info"];
const keys = "~touchpoint:*";

const login = { username: "sender", password: "x" };
const connects: readonly (readonly [string, () => Promise<RedisCommands>])[] = [
  [
    "ioredis",
    async () => {
      const redis = new Redis(server.port, "127.0.0.1", { ...login, enableReadyCheck: false });
      onTestFinished(() => redis.disconnect());
      return redis;
    },
  ],
  [
    "node-redis",
    async () => {
      const redis = createClient({ url: `redis://127.0.0.1:${server.port}`, ...login });
      await redis.connect();
      onTestFinished(() => redis.destroy());
      return redis;
    },
  ],
];

/** Sends, lists and ingests as a user with these permissions. Returns the errors. */
const tryAs = async (connect: () => Promise<RedisCommands>, permissions: readonly string[]) => {
  await admin.flushall();
  await admin.script("FLUSH");
  await admin.acl("SETUSER", "sender", "reset", "on", ">x", ...permissions);
  const redis = await connect();
  const sandbox = createSandbox({ apiKeys: ["k"] });
  const ledger = redisLedger(redis);
  const options = { apiKey: "k", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch };
  const sender = new Client({ ...options, ledger });
  const limited = new Client({ ...options, limits: redisLimits(redis, { id: "crm" }) });
  const event = { name: "seen", contact: { email: "ada@example.com" } };
  const checkpoint = redisCheckpoint(redis, { id: "events" });
  const failure = (work: Promise<unknown>): Promise<string | undefined> =>
    work.then(
      () => undefined,
      ({ message }: Error) => message,
    );
  const failures = {
    send: await failure(sender.emails.send({ to: "a@b.example", subject: "s", text: "t" }, { once: "k" })),
    list: await failure(ledger.list()[Symbol.asyncIterator]().next()),
    ingest: await failure(sender.events.ingest([event], { checkpoint })),
    limits: await failure(limited.contacts.find("ada@example.com")),
  };
  await Promise.all([sender.close(), limited.close()]);
  return { failures, sent: sandbox.state.emails.length };
};

test.each(connects)(
  "with %s, a user with the advised permissions does everything",
  async (_name, connect) => {
    const { failures, sent } = await tryAs(connect, [keys, ...advised]);
    expect([failures, sent]).toEqual([{}, 1]);
  },
);

const advice =
  "(allow the Redis user +eval +evalsha +get +set +time, and for a ledger +scan +info, on the keys";
const refused = expect.stringContaining(advice);
const all = { send: refused, ingest: refused, limits: refused };

test.each([
  ["+eval", { ...all, list: refused }],
  ["+evalsha", { ...all, list: refused }],
  ["+get", all],
  ["+set", all],
  ["+time", { send: refused, list: refused, limits: refused }],
  ["+scan", { list: refused }],
  [keys, { ...all, list: refused }],
])("a user without %s is refused at once, with the advice", async (missing, expected) => {
  for (const [, connect] of connects) {
    const permissions = [keys, ...advised].filter((one) => one !== missing);
    const { failures, sent } = await tryAs(connect, permissions);
    expect([failures, sent]).toEqual([expected, "send" in expected ? 0 : 1]);
  }
});
