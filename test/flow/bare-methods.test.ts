import { expect, test } from "vitest";
import { Client, memoryLedger } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const email = "ada@example.com";

/** A proxy as Vue's `reactive` makes it: objects that are read through it are proxies too, and it is `this` of each call. */
const reactive = <T extends object>(target: T): T =>
  new Proxy(target, {
    get: (from, key, receiver) => {
      const value: unknown = Reflect.get(from, key, receiver);
      const isObject = Object.prototype.toString.call(value) === "[object Object]";
      return isObject ? reactive(Object(value)) : value;
    },
  });

const service = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const options = {
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false as const,
  };
  return { sandbox, client: new Client(options) };
};

const { client: sample } = service();
const owners: readonly (readonly [string, object])[] = [
  ["client", sample],
  ["client.contacts", sample.contacts],
  ["client.companies", sample.companies],
  ["client.lists", sample.lists],
  ["client.events", sample.events],
  ["client.emails", sample.emails],
  ["client.emails.scheduled", sample.emails.scheduled],
  ["a recorder", sample.events.recorder()],
];

test.each(owners)("every method of %s is bound, and not shown", (_name, owner) => {
  const prototype: object = Object.getPrototypeOf(owner);
  const names = Reflect.ownKeys(prototype).filter((name) => name !== "constructor");
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) {
    expect(Object.hasOwn(owner, name), String(name)).toBe(true);
    expect(Object.keys(owner)).not.toContain(name);
  }
});

test("methods work without their object", async () => {
  const { client, sandbox } = service();
  const { create, find, list } = client.contacts;
  await create({ email });
  expect((await find(email))?.email).toBe(email);
  const { toArray, pages } = list();
  expect(await toArray()).toHaveLength(1);
  for await (const { data } of pages()) expect(data).toHaveLength(1);
  const { record, flush, close } = client.events.recorder();
  const recording = record({ name: "page.viewed", contact: { email } });
  await flush();
  expect((await recording).state).toBe("recorded");
  await close();
  const { withOptions, budgets, request } = client;
  expect(await withOptions({ timeoutMs: 5_000 }).contacts.find(email)).not.toBeNull();
  expect(budgets().requests.used).toBeTypeOf("number");
  expect(await request({ method: "GET", path: "/api/v1/contacts" })).toMatchObject({ total: 1 });
  const { stateOf, waitFor } = sandbox;
  expect(stateOf("default").contacts).toHaveLength(1);
  expect((await waitFor("contact", { email })).email).toBe(email);
  const { claim, settle } = memoryLedger();
  expect(await claim("key", "print")).toMatchObject({ state: "claimed" });
  expect(await settle("key", "not-sent", { force: true })).toBe(true);
});

test("a client and a recorder work through the proxies of Vue's reactive", async () => {
  const client = reactive(service().client);
  await client.contacts.create({ email });
  expect((await client.withOptions({ timeoutMs: 5_000 }).contacts.find(email))?.email).toBe(email);
  const recorder = reactive(client.events.recorder());
  const recording = recorder.record({ name: "page.viewed", contact: { email } });
  await recorder.flush();
  expect((await recording).state).toBe("recorded");
  expect(recorder.pending).toBe(0);
  await client.close();
});

test("a method of a subclass is bound, and reaches the method that it overrides", async () => {
  class Counting extends Client {
    requests = 0;
    override request(...given: Parameters<Client["request"]>): ReturnType<Client["request"]> {
      this.requests += 1;
      return super.request(...given);
    }
  }
  const { sandbox } = service();
  const client = new Counting({
    ...{ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false },
  });
  const { request } = client;
  await request({ method: "GET", path: "/api/v1/contacts" });
  expect(client.requests).toBe(1);
});

test("the callback of map says how to call it: map passes the index as the options", async () => {
  const { client } = service();
  const [found] = await Promise.allSettled([email].map(client.contacts.find as (email: string) => unknown));
  expect(found).toMatchObject({
    reason: {
      name: "ValidationError",
      message:
        "contacts.find: the options must be an object, got 0; as a callback of map, write items.map((item) => method(item))",
    },
  });
});
