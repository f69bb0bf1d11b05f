import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Client } from "../../../src/index.ts";
import {
  type IoredisCommands,
  type RedisCommands,
  redisCheckpoint,
  redisLedger,
  redisLimits,
} from "../../../src/redis/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { mappingClients, wrongClients } from "../../support/redis-clients.ts";
import { RedisServer } from "../../support/redis-server.ts";

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.port, "127.0.0.1");
});
beforeEach(() => admin.flushall());
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const sender = (redis: RedisCommands) => {
  const sandbox = createSandbox({ apiKeys: ["k"] });
  const ledger = redisLedger(redis);
  const client = new Client({ apiKey: "k", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch, ledger });
  const limits = redisLimits(redis, { id: "crm" });
  const limited = new Client({ apiKey: "k", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch, limits });
  return { sandbox, client, ledger, limited };
};
const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
const event = { name: "seen", contact: { email: "ada@example.com" } };

describe.each(mappingClients)("with %s", (_name, connect) => {
  test("five racing sends are one email, whose key is listed and settled", async () => {
    const { sandbox, client, ledger } = sender(await connect(server.port));
    const racers = Array.from({ length: 5 }, () => client.emails.send(email, { once: "hi:1" }));
    const receipts = await Promise.all(racers);
    const keys: unknown[] = [];
    for await (const { key, state } of ledger.list()) keys.push([key, state]);
    expect([sandbox.state.emails.length, new Set(receipts.map(({ id }) => id)).size]).toEqual([1, 1]);
    expect(keys).toEqual([["hi:1", "sent"]]);
    await ledger.claim("hi:2", "print", { operation: "emails.send", limitMs: 0 });
    expect([await ledger.settle("hi:2", "not-sent"), await ledger.get("hi:2")]).toEqual([true, undefined]);
    await client.close();
  });

  test("the key of a cancelled email is free", async () => {
    const { client, ledger } = sender(await connect(server.port));
    const sendAt = new Date("2099-01-31T09:00:00Z");
    const { id } = await client.emails.schedule({ ...email, sendAt }, { once: "hi:1" });
    await client.emails.scheduled.cancel(id);
    expect(await ledger.get("hi:1")).toBeUndefined();
    await client.close();
  });

  test("a call under shared limits goes through", async () => {
    const { sandbox, limited } = sender(await connect(server.port));
    expect(await limited.contacts.find("ada@example.com")).toBeNull();
    expect([limited.budgets().requests.lost, sandbox.state.counts.requests]).toEqual([undefined, 1]);
    await limited.close();
  });

  test("a checkpoint is read as it was saved", async () => {
    const store = redisCheckpoint(await connect(server.port), { id: "events" });
    const state = { version: 1, done: 3, last: "ünï" } as const;
    expect(await store.load()).toBeUndefined();
    await store.save(state);
    expect(await store.load()).toEqual(state);
  });
});

describe.each(wrongClients)("%s is refused at first use by name", (_name, connect) => {
  test("by a ledger: nothing is sent", async () => {
    const { sandbox, client } = sender(await connect(server.port));
    await expect(client.emails.send(email, { once: "hi:1" })).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining("pass a client of ioredis or node-redis, not a pipeline"),
    });
    expect(sandbox.state.emails).toEqual([]);
    await client.close();
  });

  test("by limits: a call fails at once", async () => {
    const { sandbox, limited } = sender(await connect(server.port));
    await expect(limited.contacts.find("ada@example.com")).rejects.toMatchObject({
      name: "ConnectionError",
      outcome: "not-applied",
      message: expect.stringContaining("pass a client of ioredis or node-redis, not a pipeline"),
    });
    expect(sandbox.state.counts.requests).toBe(0);
    await limited.close();
  });

  test("by a checkpoint: nothing is recorded", async () => {
    const { sandbox, client } = sender(await connect(server.port));
    const checkpoint = redisCheckpoint(await connect(server.port), { id: "events" });
    await expect(client.events.ingest([event], { checkpoint })).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining("pass a client of ioredis or node-redis, not a pipeline"),
    });
    expect(sandbox.state.events).toEqual([]);
    await client.close();
  });
});

test("a client that does not return the replies of writes is refused at the ledger's first use", async () => {
  const silent: IoredisCommands = {
    eval: async (script, count, ...rest) => {
      const reply = await admin.eval(script, count, ...rest);
      return script.includes("'SET'") ? null : reply;
    },
    evalsha: async () => {
      throw new Error("NOSCRIPT");
    },
    info: (section) => admin.info(section),
  };
  const { sandbox, client } = sender(silent);
  await expect(client.emails.send(email, { once: "hi:1" })).rejects.toMatchObject({
    name: "ConfigurationError",
    message: expect.stringContaining(
      "redisLedger: the store failed its self-test, because it could not claim a key of its own",
    ),
  });
  expect([sandbox.state.emails.length, await redisLedger(admin).get("hi:1")]).toEqual([0, undefined]);
  await client.close();
});
