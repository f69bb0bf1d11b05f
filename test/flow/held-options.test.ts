import { inspect } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { Client, type ClientOptions, ConfigurationError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

test("a sibling keeps the key and the base URL that its client took from the environment", async () => {
  const sandbox = createSandbox({ apiKeys: ["env-key"], limits: false });
  vi.stubEnv("TOUCHPOINT_API_KEY", "env-key");
  vi.stubEnv("TOUCHPOINT_BASE_URL", "http://localhost");
  const client = new Client({ fetch: sandbox.fetch, limits: false });
  vi.stubEnv("TOUCHPOINT_API_KEY", undefined);
  vi.stubEnv("TOUCHPOINT_BASE_URL", "http://localhost:1");
  const sibling = client.withOptions({ maxRetries: 0 });
  expect(await sibling.withOptions({ timeoutMs: 9_000 }).contacts.list()).toMatchObject({ data: [] });
});

test("undefined and null in place of changes mean no changes", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  const unchanged = { apiKey: undefined, baseUrl: undefined, fetch: undefined, limits: undefined };
  for (const changes of [unchanged, null, undefined, { apiKey: null, baseUrl: null }])
    await client.withOptions(loose(changes)).contacts.list();
  expect(client.budgets().requests.used).toBe(4);
  const make = () => client.withOptions(loose({ timeout: undefined, timeoutMs: null }));
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(
    'there is no option "timeout" (did you mean "timeoutMs"?); timeoutMs must be a number of at least 1, got null',
  );
});

test("an options object that is changed later changes neither the client nor its siblings", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const told: string[] = [];
  const requests = { max: 7, windowMs: 10_000 };
  const options = {
    ...{ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch },
    headers: { "x-a": "1" } as Record<string, string>,
    hooks: { onRequest: () => void told.push("first") },
    limits: { requests },
    routes: { "contacts.list": "/api/v1/contacts" } as Record<string, string>,
  };
  const client = new Client(options);
  options.apiKey = "other";
  options.headers["x-a"] = "2";
  options.hooks.onRequest = () => void told.push("second");
  options.routes["contacts.list"] = "/other";
  requests.max = 1;
  const sibling = client.withOptions({ timeoutMs: 9_000 });
  await client.contacts.list();
  await sibling.contacts.list();
  expect(sandbox.state.requests.map(({ headers }) => headers["x-a"])).toEqual(["1", "1"]);
  expect(told).toEqual(["first", "first"]);
  expect(sibling.budgets().requests).toMatchObject({ used: 2, remaining: 5 });
});

test("options that a class gives its instances are taken", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  class Config implements ClientOptions {
    readonly fetch = sandbox.fetch;
    get apiKey(): string {
      return "key";
    }
    get baseUrl(): string {
      return "http://localhost";
    }
  }
  const client = new Client(new Config());
  expect(await client.withOptions({ maxRetries: 0 }).contacts.list()).toMatchObject({ data: [] });
});

test("a client with the global fetch and its siblings see one that is replaced later", async () => {
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: globalThis.fetch });
  vi.stubGlobal("fetch", async () => Response.json({ data: [], total: 9 }));
  const sibling = client.withOptions({ concurrency: 2 });
  for (const one of [client, sibling]) expect(await one.contacts.list()).toMatchObject({ total: 9 });
});

test("nothing of a client shows the key that it keeps for its siblings", () => {
  vi.stubEnv("TOUCHPOINT_API_KEY", "canary-key-51b0");
  const client = new Client({ baseUrl: "http://localhost" });
  const sibling = client.withOptions({ maxRetries: 0 });
  const everything: object = { depth: 12, showHidden: true, getters: true };
  const shown = [client, sibling].map((one) => inspect(one, everything) + JSON.stringify(one)).join();
  expect(shown).not.toContain("canary-key");
});
