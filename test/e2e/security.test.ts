import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { AuthenticationError, Client, type ClientOptions } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { openElsewhere } from "./faults/support/elsewhere.ts";

const apiKey = "tp_live_secret";
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  vi.unstubAllGlobals();
});

/** A service that keeps what it is asked and answers as told. */
const serve = async (
  answer: (response: ServerResponse, request: IncomingMessage) => void = (response) => response.end("{}"),
) => {
  const seen: { readonly url: string; readonly authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? "", authorization: request.headers.authorization });
    request.resume();
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server always has an address object, never a pipe's name.
  const { port } = server.address() as AddressInfo;
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { seen, url: `http://127.0.0.1:${port}` };
};

const open = (baseUrl: string, options: ClientOptions = {}): Client => {
  const client = new Client({ baseUrl, apiKey, limits: false, maxRetries: 0, ...options });
  closers.push(async () => void (await client.close({ graceMs: 0 })));
  return client;
};

const json = (body: string) => (response: ServerResponse) =>
  response.setHeader("content-type", "application/json").end(body);

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])("a %i is never followed", async (status) => {
    const elsewhere = await openElsewhere();
    closers.push(elsewhere.close);
    const { url } = await serve((response) => response.writeHead(status, { location: elsewhere.url }).end());
    const client = open(url, { maxRetries: 4 });
    await expect(client.contacts.list()).rejects.toMatchObject({ code: "connection_failed", attempts: 1 });
    await expect(client.events.record({ name: "a", contact: { id: "1" } })).rejects.toMatchObject({
      attempts: 1,
    });
    expect(elsewhere.connections).toBe(0);
  });

  test("a redirect within the origin is not followed either", async () => {
    const { seen, url } = await serve((response) => response.writeHead(307, { location: "/other" }).end());
    await expect(open(url).contacts.list()).rejects.toMatchObject({ code: "connection_failed" });
    expect(seen.map((request) => request.url)).toEqual(["/api/v1/contacts"]);
  });

  test.each([
    ["https://service.test/api/v1/contacts", " to https://service.test/api/v1/contacts"],
    ["/login?next=secret#secret", " to /login"],
    ["https://me:secret@service.test/?key=secret", " to https://service.test/"],
    ["", ""],
  ])("the error names where a redirect to %j leads, and none of its secrets", async (location, place) => {
    const { url } = await serve((response) => response.writeHead(308, { location }).end());
    await expect(open(url).contacts.list()).rejects.toMatchObject({
      message: `contacts.list: sent, no usable response (status 308${place}: the client never follows redirects). Nothing was changed.`,
      hint: "use the address that the service redirects to as baseUrl",
    });
  });

  test("a given fetch is told not to follow", async () => {
    const asked: unknown[] = [];
    const client = open("https://service.test", {
      fetch: async (_url, init) => {
        asked.push(init?.redirect);
        return new Response(null, { status: 302, headers: { location: "https://elsewhere.test" } });
      },
    });
    await expect(client.contacts.list()).rejects.toMatchObject({ code: "connection_failed" });
    expect(asked).toEqual(["manual"]);
  });
});

describe("ids stay in their path segment", () => {
  test.each([
    ["../companies/1", "/api/v1/contacts/..%2Fcompanies%2F1"],
    ["..\\x", "/api/v1/contacts/..%5Cx"],
    ["%2e%2e", "/api/v1/contacts/%252e%252e"],
    ["a/b?c#d", "/api/v1/contacts/a%2Fb%3Fc%23d"],
    ["\r\nx: y", "/api/v1/contacts/%0D%0Ax%3A%20y"],
    ["é☃", "/api/v1/contacts/%C3%A9%E2%98%83"],
  ])("%j", async (id, path) => {
    const { seen, url } = await serve();
    await open(url).contacts.update(id, { name: "Ada" });
    expect(seen.map((request) => request.url)).toEqual([path]);
  });

  test.each(["", ".", "..", "x".repeat(10_000), "\ud800"])(
    "%j is refused, and nothing is sent",
    async (id) => {
      const { seen, url } = await serve();
      const client = open(url);
      const refused = { code: "input_invalid", outcome: "not-applied", attempts: 0 };
      await expect(client.contacts.update(id, { name: "Ada" })).rejects.toMatchObject(refused);
      await expect(client.companies.update(id, { industry: "x" })).rejects.toMatchObject(refused);
      await expect(client.lists.addContacts(id, ["a@b.c"])).rejects.toMatchObject(refused);
      await expect(client.emails.scheduled.cancel(id)).rejects.toMatchObject(refused);
      expect(seen).toEqual([]);
    },
  );

  test.each([
    "//elsewhere.test/x",
    "https://elsewhere.test",
    "/a/../b",
    "/a/%2e%2E/b",
    "/a\\..\\b",
    "/a?b",
    "/a#b",
    "/a b",
    "x",
  ])("request() refuses the path %j", async (path) => {
    const { seen, url } = await serve();
    const asked = async () => open(url).request({ method: "GET", path });
    await expect(asked()).rejects.toMatchObject({ code: "input_invalid" });
    expect(seen).toEqual([]);
  });
});

describe("where the key may go", () => {
  test.each([
    ["https://user:pass@service.test", "user name or password"],
    ["https://service.test?x=1", "query or a fragment"],
    ["https://service.test#x", "query or a fragment"],
    ["http://service.test", "must start with https://"],
    ["http://127.0.0.1.evil.test", "must start with https://"],
    ["http://localhost.evil.test", "must start with https://"],
    ["http://10.0.0.1", "must start with https://"],
    ["ftp://service.test", "absolute https:// URL"],
    ["//service.test", "absolute https:// URL"],
    ["javascript:alert(1)", "absolute https:// URL"],
    ["service.test", "absolute https:// URL"],
  ])("the base URL %j is refused", (baseUrl, why) => {
    expect(() => new Client({ baseUrl, apiKey })).toThrow(why);
  });

  test("no message repeats a password in the base URL", () => {
    expect(() => new Client({ baseUrl: "https://ada:hunter2@service.test", apiKey })).toThrow(
      /^(?!.*hunter2)/,
    );
  });

  test.each(["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"])(
    "%s stays on this machine and is allowed",
    (baseUrl) => {
      expect(() => new Client({ baseUrl, apiKey })).not.toThrow();
    },
  );

  test.each([
    "http://10.0.0.1",
    "http://api.localhost:1",
    "http://localhost.example",
    "http://127.0.0.1.example",
  ])("%s need not stay on this machine and is refused", (baseUrl) => {
    expect(() => new Client({ baseUrl, apiKey })).toThrow("baseUrl must start with https://");
  });

  test("http to another machine requires an explicit option", () => {
    expect(() => new Client({ baseUrl: "http://10.0.0.1", apiKey, allowInsecureHttp: true })).not.toThrow();
  });

  test("a browser page is refused unless an option allows it", () => {
    vi.stubGlobal("window", {});
    vi.stubGlobal("document", {});
    const options = { baseUrl: "https://service.test", apiKey };
    expect(() => new Client(options)).toThrow(
      "this looks like a browser, where every visitor could read the API key. In a test under jsdom, use the test " +
        "runner's environment node; dangerouslyAllowBrowser: true allows it",
    );
    expect(() => new Client({ ...options, dangerouslyAllowBrowser: true })).not.toThrow();
  });
});

describe("headers", () => {
  test.each([
    ["a line break in a value", { "x-a": "1\r\nauthorization: other" }],
    ["a line feed alone", { "x-a": "1\n2" }],
    ["a NUL", { "x-a": "\0" }],
    ["a character beyond Latin-1", { "x-a": "☃" }],
    ["a name that is none", { "x a": "1" }],
    ["a line break in a name", { "x-a\r\nx-b": "1" }],
    ["Authorization", { Authorization: "Bearer other" }],
    ["aUTHORIZATION", { aUTHORIZATION: "Bearer other" }],
    ["Host", { Host: "elsewhere.test" }],
    ["Content-Length", { "content-length": "1" }],
    ["Transfer-Encoding", { "Transfer-Encoding": "chunked" }],
  ])("%s is refused by the client and by the call", async (_name, headers) => {
    const { seen, url } = await serve();
    expect(() => new Client({ baseUrl: url, apiKey, headers })).toThrow("headers");
    const call = async () => open(url).contacts.create({ email: "a@b.c" }, { headers });
    await expect(call()).rejects.toMatchObject({ code: "input_invalid", attempts: 0 });
    expect(seen).toEqual([]);
  });

  test.each(["a\r\nb", "a b", "", "é"])("the key %j is refused, and not repeated", (key) => {
    expect(() => new Client({ baseUrl: "https://service.test", apiKey: key })).toThrow(
      /apiKey (must|is missing)/,
    );
  });
});

describe("hostile answers", () => {
  const polluted = '{"id":"1","__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}';

  test("__proto__ in an answer reaches no prototype", async () => {
    const { url } = await serve(json(polluted));
    const contact = await open(url).contacts.update("1", { name: "Ada" });
    const company = await open(url).companies.update("1", { industry: "x" });
    const list = await open(url).lists.create({ name: "x" });
    const kept = await open(url).emails.schedule({
      to: "a@b.c",
      subject: "s",
      text: "t",
      sendAt: new Date(4e12),
    });
    for (const record of [contact, company, list, kept]) {
      expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
      expect("isAdmin" in record).toBe(false);
    }
    expect("isAdmin" in {}).toBe(false);
  });

  test("__proto__ inside an envelope, a page and an error reaches no prototype", async () => {
    const { url } = await serve(json(`{"data":${polluted},"company":${polluted},"email":${polluted}}`));
    const company = await open(url).companies.update("1", { industry: "x" });
    const page = await open(url).contacts.list();
    const failing = await serve((response) =>
      response.writeHead(409).end(`{"error":"no","__proto__":{"isAdmin":1}}`),
    );
    const error: unknown = await open(failing.url)
      .contacts.create({ email: "a@b.c" })
      .catch((thrown) => thrown);
    for (const record of [company, page, error]) expect(Reflect.has(Object(record), "isAdmin")).toBe(false);
    expect("isAdmin" in {}).toBe(false);
  });

  test("__proto__ in customFields is sent as a plain key, or not at all, and reaches no prototype", async () => {
    const bodies: string[] = [];
    const { url } = await serve((response, request) => {
      request.on("data", (chunk) => bodies.push(String(chunk)));
      request.on("end", () => json('{"id":"1"}')(response));
    });
    const customFields = JSON.parse('{"plan":"pro","__proto__":{"isAdmin":true}}');
    await open(url).contacts.create({ email: "a@b.c", customFields });
    expect(JSON.parse(bodies.join("")).customFields.plan).toBe("pro");
    expect(Object.keys(customFields)).toEqual(["plan", "__proto__"]);
    expect("isAdmin" in {}).toBe(false);
  });

  test("a response over maxResponseBytes is dropped, whether its length is announced or not", async () => {
    const long = `{"id":"${"x".repeat(5_000)}"}`;
    const announced = await serve(json(long));
    const streamed = await serve((response) => {
      response.write(long.slice(0, 100));
      response.end(long.slice(100));
    });
    for (const { url } of [announced, streamed]) {
      const call = open(url, { maxResponseBytes: 1_000 }).contacts.create({ email: "a@b.c" });
      await expect(call).rejects.toMatchObject({ code: "response_invalid", outcome: "unknown" });
    }
  });

  test("a small body that would unpack to a gigabyte is never unpacked completely", async () => {
    // Packed twice, 1 GB comes to some kilobytes.
    const bomb = gzipSync(gzipSync(Buffer.alloc(256 * 1024 * 1024)));
    const { url } = await serve((response) => response.setHeader("content-encoding", "gzip, gzip").end(bomb));
    const before = process.memoryUsage().arrayBuffers;
    const call = open(url, { maxResponseBytes: 1024 * 1024 }).contacts.list();
    await expect(call).rejects.toMatchObject({ code: "response_invalid" });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });
});

describe("the key", () => {
  /** Every place in which a caller might come across it. */
  const shown = async (client: Client, error: unknown): Promise<string> =>
    [
      inspect(client, { depth: 9, showHidden: true }),
      inspect(error, { depth: 9, showHidden: true }),
      JSON.stringify(client),
      JSON.stringify(error),
      String(error),
    ].join("\n");

  test("is in no error, log line, hook or inspection", async () => {
    const { url } = await serve((response) => response.writeHead(500).end('{"error":"no"}'));
    const lines: unknown[] = [];
    const log = (...line: unknown[]) => void lines.push(line);
    const client = open(url, {
      maxRetries: 1,
      logLevel: "debug",
      logger: { debug: log, info: log, warn: log, error: log },
      hooks: { onRequest: log, onResponse: log, onRetry: log, onWait: log },
    });
    const error: unknown = await client.events
      .record({ name: "a", contact: { id: "1" } })
      .catch((thrown) => thrown);
    expect(lines.length).toBeGreaterThan(0);
    expect((await shown(client, error)) + inspect(lines, { depth: 9 })).not.toContain(apiKey);
  });

  test("personal data stays out of the log below debug", async () => {
    const { url } = await serve((response) =>
      response.writeHead(409).end('{"error":"ada@example.com is taken"}'),
    );
    const lines: unknown[] = [];
    const log = (...line: unknown[]) => void lines.push(line);
    const client = open(url, {
      maxRetries: 1,
      logLevel: "info",
      logger: { debug: log, info: log, warn: log, error: log },
    });
    await client.contacts.create({ email: "ada@example.com", name: "Ada" }).catch(() => undefined);
    await client.contacts.find("ada@example.com").catch(() => undefined);
    expect(inspect(lines, { depth: 9 })).not.toMatch(/ada/i);
  });

  test("after a 401, the key function is called once more, also for an email, and the call continues", async () => {
    const sandbox = createSandbox({ apiKeys: ["old", "new"], limits: false });
    const { url, close } = await sandbox.listen();
    closers.push(close);
    const keys = ["old", "new"];
    let asked = 0;
    const client = open(url, { apiKey: async () => keys[asked++] ?? "none" });
    await client.contacts.list();
    sandbox.updateKey("old", { revoked: true });
    await client.emails.send({ to: "a@b.c", subject: "s", text: "t" });
    await client.contacts.list();
    expect({ asked, emails: sandbox.state.emails.length }).toEqual({ asked: 2, emails: 1 });
  });

  test("if the key stays refused, its function is called only once more", async () => {
    const { seen, url } = await serve((response) => response.writeHead(401).end('{"error":"no"}'));
    let asked = 0;
    const client = open(url, { apiKey: () => `key-${asked++}`, maxRetries: 4 });
    await expect(client.contacts.list()).rejects.toBeInstanceOf(AuthenticationError);
    expect(seen.map(({ authorization }) => authorization)).toEqual(["Bearer key-0", "Bearer key-1"]);
  });

  test("a key function that never returns ends the call after timeoutMs, and nothing is sent", async () => {
    const { seen, url } = await serve();
    const client = open(url, { apiKey: () => new Promise<string>(() => undefined), timeoutMs: 50 });
    await expect(client.emails.send({ to: "a@b.c", subject: "s", text: "t" })).rejects.toMatchObject({
      code: "timeout",
      outcome: "not-applied",
    });
    expect(seen).toEqual([]);
  });

  test("a key function that fails is named in the error, and the next call calls it again", async () => {
    const { url } = await serve((response) => response.end('{"data":[]}'));
    const cause = new Error("the vault is sealed");
    const answers = [Promise.reject(cause), Promise.resolve("key")];
    const client = open(url, { apiKey: () => answers.shift() ?? "none" });
    const error: unknown = await client.contacts.list().catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "configuration_invalid",
      operation: "contacts.list",
      attempts: 0,
      cause,
    });
    expect(String(error)).toContain("contacts.list: apiKey: the function failed: the vault is sealed");
    expect(await client.contacts.list()).toMatchObject({ data: [] });
  });

  test.each([
    ["a line break", "a\r\nb"],
    ["nothing", ""],
    ["no string", 7],
  ])("a function that returns %s is refused without showing it", async (_name, key) => {
    const { seen, url } = await serve();
    // As JavaScript would.
    const client = open(url, { apiKey: () => key as string });
    await expect(client.contacts.list()).rejects.toThrow("apiKey: the function must return");
    expect(seen).toEqual([]);
  });
});
