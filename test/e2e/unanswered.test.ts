import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { bypass, HttpResponse, http, passthrough, type RequestHandler } from "msw";
import { setupServer } from "msw/node";
import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from "undici";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
const path = "/api/v1/emails";
const refused = { name: "ConnectionError", attempts: 1, outcome: "not-applied" };

let left: string[];
let baseUrl: string;
const network = createServer((request, response) => {
  left.push(request.url ?? "");
  request.resume().on("end", () => response.end('{"id":"sent"}'));
});
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  left = [];
  network.listen(0, "127.0.0.1");
  await once(network, "listening");
  // Listening on a port of TCP: the address is no path.
  baseUrl = `http://127.0.0.1:${(network.address() as AddressInfo).port}`;
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  vi.restoreAllMocks();
  network.closeAllConnections();
  network.close();
  await once(network, "close");
});

const clientOf = (options: ClientOptions = {}): Client => {
  const client = new Client({ apiKey: "key", baseUrl, limits: false, ...options });
  closing.push(() => client.close());
  return client;
};

type Unhandled = "error" | "warn" | "bypass" | (() => void);

const msw = (handlers: readonly RequestHandler[], onUnhandledRequest: Unhandled = "error") => {
  const server = setupServer(...handlers);
  server.listen({ onUnhandledRequest });
  closing.push(() => server.close());
  return server;
};

describe("under MSW", () => {
  test.each<[string, Parameters<typeof http.post>[1]]>([
    ["answers nothing", () => undefined],
    ["answers nothing later", async () => void (await new Promise(setImmediate))],
    [
      "reads the request and answers nothing",
      ({ request }) => void [request.url, request.headers.get("accept")],
    ],
  ])("a request whose handler %s does not leave", async (_what, resolver) => {
    msw([http.post(`${baseUrl}${path}`, resolver)]);
    await expect(clientOf().emails.send(email)).rejects.toMatchObject(refused);
    await expect(clientOf().emails.send(email)).rejects.toThrow("passthrough()");
    expect(left).toEqual([]);
  });

  test("a handler that answers nothing leaves the request to the handlers after it", async () => {
    msw([http.all("*", () => undefined), http.post(`*${path}`, () => HttpResponse.json({ id: "second" }))]);
    expect(await clientOf().emails.send(email)).toMatchObject({ id: "second" });
    expect(left).toEqual([]);
  });

  test("passthrough() lets a request leave, by the handler and for the call that named it", async () => {
    const names = ({ request }: { request: Request }) =>
      request.headers.get("x-test") === "leaves" ? passthrough() : undefined;
    msw([http.post(`${baseUrl}${path}`, names)]);
    const client = clientOf({ maxRetries: 0 });
    const settled = await Promise.allSettled(
      ["leaves", "stays", "leaves"].map((name) => client.emails.send(email, { headers: { "x-test": name } })),
    );
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(left).toEqual([path, path]);
  });

  test.each<Unhandled>(["warn", "bypass", () => undefined])(
    "onUnhandledRequest decides about a request that no handler matches: %s",
    async (strategy) => {
      vi.spyOn(console, "warn").mockReturnValue();
      msw([http.get(`${baseUrl}/other`, () => undefined)], strategy);
      expect(await clientOf().emails.send(email)).toMatchObject({ id: "sent" });
      expect(left).toEqual([path]);
    },
  );

  test("requests of others leave as they do without the client", async () => {
    msw([http.all("*", () => undefined)]);
    const { get } = Headers.prototype;
    const [others, own] = await Promise.allSettled([
      fetch(`${baseUrl}/others`).then((response) => response.json()),
      clientOf().emails.send(email),
      fetch(bypass(`${baseUrl}/bypassed`)),
    ]);
    expect([others, own.status]).toEqual([{ status: "fulfilled", value: { id: "sent" } }, "rejected"]);
    expect(left.sort()).toEqual(["/bypassed", "/others"]);
    expect(Headers.prototype.get).toBe(get);
  });

  test("an abort ends a request that a handler holds", async () => {
    msw([http.post(`${baseUrl}${path}`, () => new Promise<never>(() => {}))]);
    const { get } = Headers.prototype;
    await expect(clientOf({ maxRetries: 0 }).emails.send(email, { timeoutMs: 50 })).rejects.toMatchObject({
      name: "TimeoutError",
    });
    await new Promise(setImmediate);
    expect(Headers.prototype.get).toBe(get);
    expect(left).toEqual([]);
  });

  test.each([
    ["of another key", { apiKey: "another" }, {}],
    ["of another origin", {}, { baseUrl: "https://crm.example" }],
  ])(
    "a sandbox's handlers do not match a client %s, and onUnhandledRequest decides",
    async (_who, options, more) => {
      vi.spyOn(console, "error").mockReturnValue();
      const sandbox = createSandbox({ apiKeys: ["key"], ...more });
      const server = msw(sandbox.handlers);
      const matched: string[] = [];
      server.events.on("request:match", ({ request }) => void matched.push(request.url));
      await expect(clientOf(options).emails.send(email)).rejects.toMatchObject(refused);
      expect([left, matched]).toEqual([[], []]);
      server.use(http.post(`*${path}`, () => HttpResponse.json({ id: "own" })));
      expect(await clientOf(options).emails.send(email)).toMatchObject({ id: "own" });
    },
  );
});

describe("under nock", () => {
  const nocked = async () => {
    const { default: nock } = await import("nock");
    if (!nock.isActive()) nock.activate();
    closing.push(() => {
      nock.cleanAll();
      nock.enableNetConnect();
      nock.restore();
    });
    return nock;
  };

  test("a request that a scope knows and does not answer does not leave", async () => {
    const nock = await nocked();
    nock(baseUrl).get("/other").reply(200, {});
    await expect(clientOf().emails.send(email)).rejects.toMatchObject(refused);
    expect(left).toEqual([]);
  });

  test("allowUnmocked and enableNetConnect let it leave", async () => {
    const nock = await nocked();
    nock(baseUrl, { allowUnmocked: true }).get("/other").reply(200, {});
    expect(await clientOf().emails.send(email)).toMatchObject({ id: "sent" });
    nock.cleanAll();
    nock.disableNetConnect();
    await expect(clientOf().emails.send(email)).rejects.toMatchObject(refused);
    nock.enableNetConnect("127.0.0.1");
    expect(await clientOf().emails.send(email)).toMatchObject({ id: "sent" });
    expect(left).toEqual([path, path]);
  });
});

test("a global MockAgent keeps what it does not know, and enableNetConnect lets it leave", async () => {
  const before = getGlobalDispatcher();
  const agent = new MockAgent();
  setGlobalDispatcher(agent);
  closing.push(
    () => agent.close(),
    () => setGlobalDispatcher(before),
  );
  agent.get(baseUrl).intercept({ path: "/other" }).reply(200, {});
  agent.disableNetConnect();
  await expect(clientOf().emails.send(email)).rejects.toMatchObject(refused);
  agent.enableNetConnect(new URL(baseUrl).host);
  expect(await clientOf().emails.send(email)).toMatchObject({ id: "sent" });
  expect(left).toEqual([path]);
});

test("a spy that calls the real fetch lets it leave", async () => {
  const spy = vi.spyOn(globalThis, "fetch");
  expect(await clientOf().emails.send(email)).toMatchObject({ id: "sent" });
  expect(spy).toHaveBeenCalledOnce();
  expect(left).toEqual([path]);
});
