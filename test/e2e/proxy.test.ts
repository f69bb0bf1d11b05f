import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type LookupFunction,
  type Server,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { Agent, ProxyAgent } from "undici";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { createSandbox, type Listening, type Sandbox } from "../../src/sandbox/index.ts";
import { certificateAuthority } from "../support/certificates.ts";
import { startCli } from "../support/cli.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { compile, root } from "../support/programs.ts";
import { openProxy, type ProxyOptions, type TestProxy } from "../support/proxy.ts";
import { relayTo } from "./faults/support/front.ts";

const [program = ""] = await compile("proxy", [`${root}test/e2e/proxy-child.ts`]);

/** Runs a client with `proxy: "env"` in a process of its own, as Node reads certificates when it starts. */
const runChild = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  // A warning is none of what it should say.
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      told += text;
    });
  await once(child, "close");
  return JSON.parse(told);
};

const name = "service.localhost";
const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
const password = "canary-0123456789";

let sandbox: Sandbox;
let service: Listening;
let proxies: TestProxy[];

beforeEach(async () => {
  // What the machine that runs the tests has set is no part of them.
  for (const variable of ["http_proxy", "https_proxy", "no_proxy"]) {
    vi.stubEnv(variable, undefined);
    vi.stubEnv(variable.toUpperCase(), undefined);
  }
  proxies = [];
  sandbox = createSandbox({ apiKeys: ["key"] });
  service = await sandbox.listen({ allowedHosts: [name] });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await Promise.all([service.close(), ...proxies.map((proxy) => proxy.close())]);
});

const start = async (options: ProxyOptions = {}): Promise<TestProxy> => {
  const proxy = await openProxy(options);
  proxies.push(proxy);
  return proxy;
};

/** Not this machine, as far as names tell; only the proxy leads there. */
const far = (): string => `http://${name}:${service.port}`;

const optionsFor = (options: ClientOptions): ClientOptions => ({
  apiKey: "key",
  baseUrl: far(),
  allowInsecureHttp: true,
  limits: false,
  maxRetries: 0,
  ...options,
});

const withPassword = ({ port }: TestProxy): string => `http://me:${password}@127.0.0.1:${port}`;

/** Everything that can be seen of a value. */
const seen = (value: unknown): string => inspect(value, { depth: 20, showHidden: true });

test("all requests share one tunnel of the proxy, opened with its user name and password", async () => {
  const proxy = await start();
  await using client = new Client(optionsFor({ proxy: withPassword(proxy) }));
  await client.contacts.create({ email: "ada@example.com" });
  expect(await client.contacts.list()).toMatchObject({ total: 1 });
  const authorization = `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
  expect(proxy.connects).toEqual([{ target: `${name}:${service.port}`, authorization }]);
});

test("a client made by withOptions shares the tunnels, and has its own with another proxy", async () => {
  const [proxy, other] = [await start(), await start()];
  await using client = new Client(optionsFor({ proxy: proxy.url }));
  await client.contacts.list();
  await client.withOptions({ maxRetries: 2 }).contacts.list();
  await client.withOptions({ proxy: other.url }).contacts.list();
  expect([proxy.connects, other.connects].map(({ length }) => length)).toEqual([1, 1]);
});

test("a test double that replaces node:http does not see the request for the tunnel", async () => {
  const proxy = await start();
  await using client = new Client(optionsFor({ proxy: proxy.url }));
  const request = vi.spyOn(http, "request");
  syncBuiltinESMExports();
  try {
    await client.contacts.list();
    expect([request.mock.calls.length, proxy.connects.length]).toEqual([0, 1]);
  } finally {
    request.mockRestore();
    syncBuiltinESMExports();
  }
});

describe("with the environment's", () => {
  const env = async (values: Readonly<Record<string, string>>, options: ClientOptions = {}) => {
    const proxy = await start();
    for (const [variable, value] of Object.entries({ HTTP_PROXY: proxy.url, ...values }))
      vi.stubEnv(variable, value);
    await using client = new Client(optionsFor(options));
    // What changes after that is not looked at.
    vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:9");
    await client.contacts.list().catch(() => undefined);
    return proxy.connects.length;
  };

  test.each<[string, Readonly<Record<string, string>>, ClientOptions, number]>([
    ["proxy, set by `env`", {}, { proxy: "env" }, 1],
    ["proxy, taken as Node does", { NODE_USE_ENV_PROXY: "1" }, {}, 1],
    ["proxy, not set", {}, {}, 0],
    ["NO_PROXY that names the service", { NO_PROXY: `other.example, ${name}` }, { proxy: "env" }, 0],
    ["NO_PROXY that names its domain", { no_proxy: ".localhost" }, { proxy: "env" }, 0],
    ["NO_PROXY that names another", { NO_PROXY: "example.com" }, { proxy: "env" }, 1],
  ])("%s", async (_what, values, options, tunnels) => {
    expect(await env(values, options)).toBe(tunnels);
  });

  test("proxy, plain http to this machine goes past it", async () => {
    expect(await env({}, { proxy: "env", baseUrl: service.url })).toBe(0);
    expect(sandbox.state.requests).toHaveLength(1);
  });
});

test("a lost response sends no email twice", async () => {
  const proxy = await start();
  sandbox.fail({ operation: "emails.send", with: "reset-after-apply" });
  await using client = new Client(optionsFor({ proxy: proxy.url, maxRetries: 4 }));
  await expect(client.emails.send(email)).rejects.toMatchObject({
    code: "connection_failed",
    outcome: "unknown",
    attempts: 1,
  });
  expect(sandbox.state.emails).toHaveLength(1);
});

test.each([407, 502])(
  "%i from the proxy: nothing was sent, and the error names the proxy",
  async (status) => {
    const proxy = await start({ status });
    await using client = new Client(optionsFor({ proxy: withPassword(proxy) }));
    await expect(client.emails.send(email)).rejects.toMatchObject({
      code: "connection_failed",
      outcome: "not-applied",
      message: `emails.send: not sent (PROXY_ANSWERED_${status}, no connection to ${name}:${service.port} through the proxy 127.0.0.1:${proxy.port}). Nothing was applied.`,
      cause: { message: `the proxy 127.0.0.1:${proxy.port} answered ${status} to CONNECT` },
      hint: expect.stringContaining(status === 407 ? "user name and password" : "cannot reach the service"),
    });
  },
);

test.each([
  [401, 1],
  [407, 1],
  [502, 2],
])("after %i from the proxy, the client sends %i CONNECT", async (status, connects) => {
  const proxy = await start({ status });
  await using client = new Client(optionsFor({ proxy: withPassword(proxy), maxRetries: 1 }), {
    random: () => 0,
  });
  await expect(client.emails.send(email)).rejects.toMatchObject({ attempts: connects });
  expect(proxy.connects).toHaveLength(connects);
});

test("the hint for a host name without an address is about the proxy's, not about baseUrl", async () => {
  await using client = new Client(optionsFor({ proxy: "http://no-such-proxy.invalid:3128" }));
  await expect(client.contacts.list()).rejects.toMatchObject({
    hint: expect.stringMatching(/^check the host name of the proxy/),
  });
});

test("the hint for a proxy without TLS whose URL starts with https: is about that URL", async () => {
  const { port } = await start();
  await using client = new Client(optionsFor({ proxy: `https://127.0.0.1:${port}` }));
  await expect(client.contacts.list()).rejects.toMatchObject({
    hint: "check the URL of the proxy: this port seems to speak http, not https",
  });
});

test("a proxy that closes the connection ends the attempt, after one CONNECT", async () => {
  const proxy = await start({ closes: true });
  await using client = new Client(optionsFor({ proxy: proxy.url }));
  await expect(client.emails.send(email)).rejects.toMatchObject({
    code: "connection_failed",
    outcome: "not-applied",
    message: `emails.send: not sent (ECONNRESET, no connection to ${name}:${service.port} through the proxy 127.0.0.1:${proxy.port}). Nothing was applied.`,
    cause: { message: `the proxy 127.0.0.1:${proxy.port}: other side closed` },
  });
  expect(proxy.connects).toHaveLength(1);
});

test("a server that does not speak HTTP is named as no proxy", async () => {
  const server = createTcpServer((socket) => socket.on("error", () => undefined).write("SSH-2.0-none\r\n"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  // A server that listens on a port has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  await using client = new Client(optionsFor({ proxy: `http://127.0.0.1:${port}` }));
  await expect(client.emails.send(email)).rejects.toMatchObject({
    outcome: "not-applied",
    message: `emails.send: not sent (PROXY_SPEAKS_NO_HTTP, no connection to ${name}:${service.port} through the proxy 127.0.0.1:${port}). Nothing was applied.`,
    hint: expect.stringContaining("this port does not speak http"),
  });
  server.close();
});

test("the error names an unreachable proxy", async () => {
  const proxy = await start();
  await proxy.close();
  proxies = [];
  await using client = new Client(optionsFor({ proxy: proxy.url }));
  await expect(client.emails.send(email)).rejects.toMatchObject({
    outcome: "not-applied",
    message: `emails.send: not sent (ECONNREFUSED, no connection to ${name}:${service.port} through the proxy 127.0.0.1:${proxy.port}). Nothing was applied.`,
  });
});

describe("a stalled connection ends at its deadline, and its socket is closed:", () => {
  const whenClosed = (proxy: TestProxy) =>
    Promise.all([...proxy.open].map((socket) => once(socket, "close")));

  const stalled = async (stalls: "connect" | "tunnel", timeoutMs: number) => {
    const proxy = await start({ stalls });
    const clock = new FakeClock();
    const baseUrl = far().replace("http:", "https:");
    const options = optionsFor({ proxy: proxy.url, timeoutMs, baseUrl });
    const client = new Client(options, { clock });
    const connected = proxy.nextConnect();
    const call = client.emails.send(email).catch((error: unknown) => error);
    await connected;
    return { proxy, clock, client, call };
  };

  test.each(["connect", "tunnel"] as const)("the %s, within timeoutMs", async (stalls) => {
    const { proxy, clock, client, call } = await stalled(stalls, 5_000);
    await clock.advance(5_000);
    expect(await call).toMatchObject({ code: "timeout", outcome: "not-applied" });
    const closed = whenClosed(proxy);
    await client.close();
    await closed;
  });

  test.each(["connect", "tunnel"] as const)("the %s, 10 s after it began", async (stalls) => {
    const { proxy, clock, client, call } = await stalled(stalls, 60_000);
    const closed = whenClosed(proxy);
    await clock.advance(10_000);
    expect(await call).toMatchObject({ code: "connection_failed", outcome: "not-applied" });
    await closed;
    const again = client.emails.send(email).catch((error: unknown) => error);
    await proxy.nextConnect();
    await client.close({ graceMs: 0 });
    expect(await again).toMatchObject({ outcome: "not-applied" });
  });
});

test("close() closes the sockets to the proxy", async () => {
  const proxy = await start();
  const client = new Client(optionsFor({ proxy: proxy.url }));
  await Promise.all([client.contacts.list(), client.contacts.list()]);
  expect(proxy.open.size).toBe(2);
  const closed = Promise.all([...proxy.open].map((socket) => once(socket, "close")));
  await client.close();
  await closed;
});

test("no error, log line or inspection shows the proxy's password", async () => {
  const proxy = await start({ status: 407 });
  const lines: unknown[] = [];
  const write = (...line: unknown[]): void => void lines.push(line);
  const logger = { debug: write, info: write, warn: write, error: write };
  await using client = new Client(optionsFor({ proxy: withPassword(proxy), logger, logLevel: "debug" }));
  const error = await client.contacts.list().catch((reason: unknown) => reason);
  expect(proxy.connects[0]?.authorization).toContain("Basic");
  const shown = seen([lines, error, client]);
  expect(shown).toContain("PROXY_ANSWERED_407");
  expect(shown).not.toContain(password);
  expect(shown).not.toContain(Buffer.from(`me:${password}`).toString("base64"));
});

describe("which goes first:", () => {
  const doubled = async (): Promise<Response> => Response.json({ id: "double" });

  test("a fetch", async () => {
    const proxy = await start();
    const fetch = async (): Promise<Response> => Response.json({ id: "fetch" });
    await using client = new Client(optionsFor({ proxy: proxy.url, fetch }));
    expect(await client.emails.send(email)).toMatchObject({ id: "fetch" });
    expect(proxy.connects).toEqual([]);
  });

  test("the proxy before a test double", async () => {
    const proxy = await start();
    vi.stubGlobal("fetch", doubled);
    await using client = new Client(optionsFor({ proxy: proxy.url }));
    expect(await client.emails.send(email)).not.toMatchObject({ id: "double" });
    expect(proxy.connects).toHaveLength(1);
  });

  test("a dispatcher", async () => {
    const proxy = await start();
    const dispatcher = new Agent();
    await using client = new Client(optionsFor({ proxy: proxy.url, baseUrl: service.url, dispatcher }));
    await client.emails.send(email);
    expect(proxy.connects).toEqual([]);
    await dispatcher.close();
  });

  test("a test double before a proxy that nobody gave the client", async () => {
    const proxy = await start();
    vi.stubEnv("HTTP_PROXY", proxy.url);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    vi.stubGlobal("fetch", doubled);
    await using client = new Client(optionsFor({}));
    expect(await client.emails.send(email)).toMatchObject({ id: "double" });
    expect(proxy.connects).toEqual([]);
  });
});

describe("over TLS", () => {
  const authority = certificateAuthority();
  let folder: string;
  let secured: Server;
  let baseUrl: string;

  const listenTls = async (options: ServerOptions): Promise<void> => {
    secured = createServer({ ...authority.issue(name), ...options }, relayTo(sandbox));
    await new Promise<void>((resolve) => secured.listen(0, "127.0.0.1", resolve));
    // Listening on a port of TCP: the address is no path.
    baseUrl = `https://${name}:${(secured.address() as AddressInfo).port}`;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "touchpoint-proxy-"));
    await writeFile(join(folder, "ca.pem"), authority.cert);
  });

  afterEach(async () => {
    await new Promise((resolve) => secured.close(resolve));
    await rm(folder, { recursive: true });
  });

  const environment = (more: Readonly<Record<string, string>>) => ({
    TOUCHPOINT_API_KEY: "key",
    TOUCHPOINT_BASE_URL: baseUrl,
    ...more,
  });

  test.each([
    ["an http proxy", () => start()],
    ["an https proxy", () => start({ certified: authority.issue("127.0.0.1") })],
  ])(
    "a program reaches the service through %s, whose authority NODE_EXTRA_CA_CERTS names",
    async (_what, open) => {
      await listenTls({});
      const proxy = await open();
      const env = environment({ HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") });
      expect(await runChild(env)).toEqual({ created: true, total: 1, sent: true });
      expect(sandbox.state.emails).toHaveLength(1);
      expect(new Set(proxy.connects.map(({ target }) => target))).toEqual(new Set([new URL(baseUrl).host]));
    },
  );

  test("nothing is sent if the certificate is not trusted", async () => {
    await listenTls({});
    const proxy = await start();
    expect(await runChild(environment({ HTTPS_PROXY: proxy.url }))).toEqual({
      code: "connection_failed",
      outcome: "not-applied",
      cause: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    });
    expect(sandbox.state.requests).toEqual([]);
  });

  test("the command line takes --proxy", async () => {
    await listenTls({});
    const proxy = await start();
    const env = environment({ NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") });
    const args = ["contacts", "export", "--out", "contacts.csv", "--proxy", proxy.url];
    expect(await startCli(args, { cwd: folder, env }).ended).toMatchObject({ ended: 0 });
    expect(proxy.connects).toHaveLength(1);
  });

  test.each([
    ["an http proxy", () => start()],
    ["an https proxy", () => start({ certified: authority.issue("127.0.0.1") })],
  ])("a client certificate goes through %s, and without one nothing is sent", async (_what, open) => {
    await listenTls({ ca: authority.cert, requestCert: true, rejectUnauthorized: true });
    const { url, connects } = await open();
    const [proxyTls, own] = [{ ca: authority.cert }, authority.issue("our program")];
    const dispatcher = (requestTls: object) => new ProxyAgent({ uri: url, proxyTls, requestTls });
    const [known, unknown] = [dispatcher({ ca: authority.cert, ...own }), dispatcher({ ca: authority.cert })];
    await using client = new Client(optionsFor({ baseUrl, dispatcher: known }));
    await client.emails.send(email);
    expect(connects.map(({ target }) => target)).toEqual([new URL(baseUrl).host]);
    const other = client.withOptions({ dispatcher: unknown });
    await expect(other.emails.send(email)).rejects.toMatchObject({ code: "connection_failed" });
    expect(sandbox.state.emails).toHaveLength(1);
    await Promise.all([known.destroy(), unknown.destroy()]);
  });

  test("a client certificate goes by a dispatcher, and without one nothing is sent", async () => {
    await listenTls({ ca: authority.cert, requestCert: true, rejectUnauthorized: true });
    const lookup: LookupFunction = (_name, _options, answer) =>
      answer(null, [{ address: "127.0.0.1", family: 4 }]);
    const connect = { ca: authority.cert, lookup };
    const [known, unknown] = [
      new Agent({ connect: { ...connect, ...authority.issue("our program") } }),
      new Agent({ connect }),
    ];
    await using client = new Client(optionsFor({ baseUrl, dispatcher: known }));
    await client.emails.send(email);
    const other = client.withOptions({ dispatcher: unknown });
    await expect(other.emails.send(email)).rejects.toMatchObject({ code: "connection_failed" });
    expect(sandbox.state.emails).toHaveLength(1);
    await Promise.all([known.destroy(), unknown.destroy()]);
  });
});
