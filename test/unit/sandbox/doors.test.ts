import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { baseUrlAt, isMeantHere } from "../../../src/sandbox/listen.ts";
import { open, send } from "./client.ts";

describe("both doors lead to the same service", () => {
  test("listen answers as fetch does", async () => {
    const { sandbox, call } = open();
    sandbox.seedContacts(3);
    const server = await sandbox.listen({ port: 0 });
    const headers = { authorization: "Bearer sandbox-key" };
    const over = await fetch(`${server.url}/api/v1/contacts?limit=2`, { headers });
    const inside = await call("GET", "/api/v1/contacts?limit=2");
    expect([over.status, await over.json()]).toEqual([inside.status, inside.body]);
    expect(over.headers.get("date")).toBe("Sun, 01 Mar 2026 12:00:00 GMT");
    await server.close();
  });

  // Not over a socket: a machine may have no IPv6.
  test.each([
    ["::1", "http://[::1]:42009"],
    ["127.0.0.1", "http://127.0.0.1:42009"],
    ["localhost", "http://localhost:42009"],
  ])("the URL at %s is %s", (host, url) => {
    expect(baseUrlAt(host, 42_009)).toBe(url);
    expect(new URL(url).port).toBe("42009");
  });

  test("closing the server breaks its open sockets", async () => {
    const { sandbox } = open();
    sandbox.fail({ with: "stall" });
    const server = await sandbox.listen();
    const broken = new Promise((resolve) => {
      request(`${server.url}/api/v1/contacts`).on("error", resolve).end();
    });
    while (sandbox.state.counts.requests === 0) await new Promise(setImmediate);
    await server.close();
    expect(await broken).toMatchObject({ code: "ECONNRESET" });
  });

  test("fetch takes a Request, a URL and a body that is not a string", async () => {
    const { sandbox } = open();
    const url = "https://any.test/api/v1/contacts";
    const headers = { authorization: "Bearer sandbox-key", "content-type": "application/json" };
    const body = new TextEncoder().encode('{"email":"ada@example.com"}');
    const made = await sandbox.fetch(new URL(url), { method: "post", headers, body });
    const listed = await sandbox.fetch(new Request(`${url}?limit=1`, { headers }));
    expect([made.status, listed.status]).toEqual([201, 200]);
    expect(await listed.json()).toMatchObject({ total: 1, limit: 1 });
  });
});

describe("a web page whose name was made to point at this machine reads nothing", () => {
  const statusFor = (url: string, host: string, path = "/"): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request(`${url}${path}`, { headers: { host, authorization: "Bearer sandbox-key" } });
      asked.on("response", (response) => response.resume().on("end", () => resolve(response.statusCode)));
      asked.on("error", reject).end();
    });

  test.each(["/", "/api/v1/contacts"])("%s answers its own names only", async (path) => {
    const { sandbox } = open();
    const { url, port, close } = await sandbox.listen({ allowedHosts: ["sandbox", "Mail.Internal"] });
    const status = (host: string) => statusFor(url, host, path);
    for (const host of [
      "localhost",
      `LOCALHOST:${port}`,
      "localhost.",
      "127.0.0.1",
      "127.1.2.3:1",
      "[::1]:80",
    ])
      expect([host, await status(host)]).toEqual([host, 200]);
    for (const host of ["sandbox", `sandbox:${port}`, "mail.internal"])
      expect([host, await status(host)]).toEqual([host, 200]);
    for (const host of [
      "evil.test",
      "localhost.evil.test",
      "127.0.0.1.evil.test",
      "10.0.0.1",
      "x:y:z",
      "[::2]",
    ])
      expect([host, await status(host)]).toEqual([host, 403]);
    await close();
  });

  test("the refusal says what to do, and is no request to the service", async () => {
    const { sandbox } = open();
    const { url, close } = await sandbox.listen();
    await statusFor(url, "evil.test", "/api/v1/contacts");
    expect(sandbox.state.counts.requests).toBe(0);
    await close();
  });

  test("the host listened at, and the address reached, are its own names", () => {
    const names = ["sandbox.internal"];
    const at = (header: string, address?: string) => isMeantHere(header, names, address);
    expect(at("sandbox.internal:4010")).toBe(true);
    expect([at("10.0.0.7", "::ffff:10.0.0.7"), at("10.0.0.8", "::ffff:10.0.0.7")]).toEqual([true, false]);
    expect(isMeantHere("[fe80::1]", ["fe80::1"], undefined)).toBe(true);
    expect(isMeantHere(undefined, names, "127.0.0.1")).toBe(false);
  });
});

describe("what the service cannot read", () => {
  test.each([
    ["POST", "/api/v1/contacts", "{", {}, 400, "The body is not valid JSON."],
    ["POST", "/api/v1/contacts", undefined, {}, 400, "The body is missing."],
    [
      "POST",
      "/api/v1/contacts",
      "{}",
      { "content-type": "text/plain" },
      400,
      "The header Content-Type must be application/json.",
    ],
    ["GET", "/api/v1/nothing", undefined, {}, 404, "No such path: GET /api/v1/nothing"],
    ["DELETE", "/api/v1/contacts/x", undefined, {}, 404, "No such path: DELETE /api/v1/contacts/x"],
    ["PATCH", "/api/v1/contacts/", "{}", {}, 404, "No such path: PATCH /api/v1/contacts/"],
  ])("%s %s %j %j is a JSON error", async (method, path, body, headers, status, error) => {
    const { call } = open();
    const reply = await call(method, path, body, headers);
    expect([reply.status, reply.body]).toEqual([status, { error }]);
  });
});

describe("latency", () => {
  test("the effect is there while the answer is on its way", async () => {
    const { sandbox, call } = open({ latencyMs: 300 });
    const answer = call("POST", "/api/v1/contacts", { email: "ada@example.com" });
    expect(sandbox.state.contacts).toHaveLength(1);
    sandbox.advance(300);
    expect((await answer).status).toBe(201);
  });

  test("an abort settles the call at once with the signal's reason", async () => {
    const { sandbox } = open({ latencyMs: [100, 200] });
    const abort = new AbortController();
    const call = sandbox.fetch("https://service.test/api/v1/contacts", { signal: abort.signal });
    const reason = new Error("enough");
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(sandbox.fetch("https://service.test/", { signal: abort.signal })).rejects.toBe(reason);
  });
});

describe("what the sandbox saw", () => {
  test("every request, without its key", async () => {
    const { sandbox, call } = open();
    await call("GET", "/api/v1/contacts?limit=5");
    expect(sandbox.state.requests).toEqual([
      {
        operation: "contacts.list",
        method: "GET",
        path: "/api/v1/contacts",
        query: { limit: "5" },
        headers: { "content-type": "application/json" },
        body: undefined,
        at: Date.parse("2026-03-01T12:00:00.000Z"),
        workspace: "default",
        status: 200,
        applied: true,
        fault: undefined,
      },
    ]);
    expect(JSON.stringify(sandbox.state)).not.toContain("sandbox-key");
  });

  test("only the newest requests are kept, all are counted", async () => {
    const { sandbox, call } = open({ keepRequests: 2 });
    for (let n = 1; n <= 4; n += 1) await call("GET", `/api/v1/contacts?limit=${n}`);
    await call("GET", "/nowhere");
    expect(sandbox.state.requests.map(({ path, query }) => path + (query.limit ?? ""))).toEqual([
      "/api/v1/contacts4",
      "/nowhere",
    ]);
    expect(sandbox.state.counts).toEqual({
      requests: 5,
      byStatus: { 200: 4, 404: 1 },
      byOperation: { "contacts.list": 4, unknown: 1 },
    });
  });

  test("the same seed gives the same ids", async () => {
    const ids = [7, 7, 8].map((seed) => {
      const sandbox = createSandbox({ seed });
      sandbox.seedContacts(2);
      return sandbox.state.contacts.map(({ id }) => id);
    });
    expect(ids[0]).toEqual(ids[1]);
    expect(ids[0]).not.toEqual(ids[2]);
  });

  test("a sandbox without options has one key and the documented limits", async () => {
    const sandbox = createSandbox();
    expect((await send(sandbox, "GET", "/api/v1/contacts")).status).toBe(200);
  });
});
