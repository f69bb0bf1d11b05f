import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mock } from "node:test";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { Agent, getGlobalDispatcher, MockAgent, setGlobalDispatcher } from "undici";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";

const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
const path = "/api/v1/emails";

let left: string[];
let baseUrl: string;
const network = createServer((request, response) => {
  left.push(request.url ?? "");
  request.resume().on("end", () => response.end('{"id":"sent"}'));
});

beforeEach(async () => {
  left = [];
  network.listen(0, "127.0.0.1");
  await once(network, "listening");
  // Listening on a port of TCP: the address is no path.
  baseUrl = `http://127.0.0.1:${(network.address() as AddressInfo).port}`;
});

afterEach(async () => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  network.closeAllConnections();
  network.close();
  await once(network, "close");
});

const clientOf = (options: ClientOptions = {}): Client =>
  new Client({ apiKey: "key", baseUrl, limits: false, ...options });

/** As a program that runs under no test runner sees the environment. */
const outsideTests = (): void => {
  for (const name of ["VITEST", "JEST_WORKER_ID", "NODE_TEST_CONTEXT"]) vi.stubEnv(name, undefined);
};

interface Double {
  readonly id: string;
  close(): Promise<void>;
}

const withMsw = (): Double => {
  const server = setupServer(http.post(`${baseUrl}${path}`, () => HttpResponse.json({ id: "msw" })));
  server.listen({ onUnhandledRequest: "error" });
  return { id: "msw", close: async () => server.close() };
};

const withMockAgent = (): Double => {
  const before = getGlobalDispatcher();
  const agent = new MockAgent();
  agent.disableNetConnect();
  agent.get(baseUrl).intercept({ path, method: "POST" }).reply(200, { id: "agent" });
  setGlobalDispatcher(agent);
  return {
    id: "agent",
    close: async () => {
      setGlobalDispatcher(before);
      await agent.close();
    },
  };
};

describe.each([
  ["MSW", withMsw],
  ["undici's MockAgent", withMockAgent],
] as const)("%s", (_name, intercept) => {
  test.each(["before", "after"])(
    "set up %s the client, the interception answers, and nothing is sent",
    async (when) => {
      outsideTests();
      let client = clientOf();
      if (when === "after") await client.contacts.list();
      left = [];
      const double = intercept();
      if (when === "before") client = clientOf();
      expect(await client.emails.send(email)).toMatchObject({ id: double.id });
      await expect(client.contacts.list()).rejects.toMatchObject({
        name: "ConnectionError",
        attempts: 1,
        outcome: "not-applied",
      });
      expect(left).toEqual([]);
      await double.close();
      expect(await client.emails.send(email)).toMatchObject({ id: "sent" });
      await client.close();
    },
  );

  test("is not used with `interception: false` or with a custom `fetch`", async () => {
    const { fetch } = globalThis;
    const double = intercept();
    await using client = clientOf({ interception: false });
    expect(await client.emails.send(email)).toMatchObject({ id: "sent" });
    const own = client.withOptions({ fetch: async () => Response.json({ id: "own" }) });
    expect(await own.emails.send(email)).toMatchObject({ id: "own" });
    expect(left).toEqual([path]);
    await double.close();
    expect(globalThis.fetch).toBe(fetch);
  });
});

const replaced = async (_url: string, init: RequestInit & { readonly cache?: string }): Promise<Response> =>
  Response.json({ id: `${init.redirect} ${init.cache}` });

test.each(["VITEST", "JEST_WORKER_ID", "NODE_TEST_CONTEXT"])(
  "in a test runner, recognized by %s, any replaced fetch is used, without cache and redirects",
  async (variable) => {
    outsideTests();
    vi.stubEnv(variable, "1");
    vi.stubGlobal("fetch", replaced);
    await using client = clientOf();
    expect(await client.emails.send(email)).toMatchObject({ id: "manual no-store" });
    expect(left).toEqual([]);
  },
);

test("a fetch that node:test mocks is used, although the source of its Proxy looks native", async () => {
  const mocked = mock.method(globalThis, "fetch", replaced);
  await using client = clientOf();
  expect(await client.emails.send(email)).toMatchObject({ id: "manual no-store" });
  mocked.mock.restore();
  expect(await client.emails.send(email)).toMatchObject({ id: "sent" });
  expect(left).toEqual([path]);
});

test("a fetch that a framework or an APM has wrapped is not used", async () => {
  outsideTests();
  vi.stubGlobal("fetch", Object.assign(replaced, { __nextPatched: true }));
  await using client = clientOf();
  expect(await client.emails.send(email)).toMatchObject({ id: "sent" });
  expect(left).toEqual([path]);
});

test.each(["undici.globalDispatcher.1", "undici.globalDispatcher.2"])(
  "a global Agent of another undici is not used, under %s",
  async (name) => {
    const symbol = Symbol.for(name);
    const before: unknown = Reflect.get(globalThis, symbol);
    const agent = new Agent();
    const dispatch = vi.spyOn(agent, "dispatch");
    Reflect.defineProperty(globalThis, symbol, { value: agent, configurable: true, writable: true });
    await using client = clientOf();
    expect(await client.emails.send(email)).toMatchObject({ id: "sent" });
    expect(dispatch).not.toHaveBeenCalled();
    if (before === undefined) Reflect.deleteProperty(globalThis, symbol);
    else Reflect.set(globalThis, symbol, before);
    await agent.close();
  },
);
