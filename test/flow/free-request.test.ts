import { expect, test } from "vitest";
import type { RawRequest } from "../../src/call/raw-request.ts";
import { Client, type ClientOptions, ValidationError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

let scenes = 0;

const scene = (options: ClientOptions = {}) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  // Clients of one origin share their budgets; tests must not.
  scenes += 1;
  const baseUrl = `https://service-${scenes}.test`;
  const client = new Client({ apiKey: "key", baseUrl, fetch: sandbox.fetch, ...options });
  return { sandbox, client };
};

test("a free request goes through the same stages, with its query and body", async () => {
  const { sandbox, client } = scene();
  const body = { email: "ada@example.com" };
  await client.request({ method: "POST", path: "/api/v1/contacts", body });
  const found = await client.request({
    method: "GET",
    path: "/api/v1/contacts",
    query: { search: "ada@example.com", limit: 1 },
  });
  expect(found).toMatchObject({ total: 1, data: [body] });
  expect(sandbox.state.requests.map(({ path, query }) => ({ path, query }))).toEqual([
    { path: "/api/v1/contacts", query: {} },
    { path: "/api/v1/contacts", query: { search: "ada@example.com", limit: "1" } },
  ]);
});

test("a free write whose response is lost is not sent again, unless its replay class allows it", async () => {
  const { sandbox, client } = scene();
  sandbox.fail({ operation: "contacts.create", with: "reset-after-apply" });
  const lost = client.request({
    method: "POST",
    path: "/api/v1/contacts",
    body: { email: "ada@example.com" },
  });
  await expect(lost).rejects.toMatchObject({ outcome: "unknown", attempts: 1, operation: "request" });
});

test.each([
  ["an absolute URL", "https://elsewhere.example/x"],
  ["another host", "//elsewhere.example/x"],
  ["no slash", "api/v1/contacts"],
  ["a dot segment", "/api/v1/../admin"],
  ["an encoded dot segment", "/api/v1/%2e%2E/admin"],
  ["a query", "/api/v1/contacts?limit=1"],
  ["a backslash", "/api\\v1"],
  ["a line break", "/api\r\nHost: elsewhere.example"],
  ["a fragment", "/api/v1/contacts#1"],
  ["a letter that must be encoded", "/api/v1/contacts/\u20ac"],
])("a path with %s is refused by a rejection, and nothing is sent", async (_what, path) => {
  const { sandbox, client } = scene();
  await expect(client.request({ method: "GET", path })).rejects.toBeInstanceOf(ValidationError);
  expect(sandbox.state.requests).toEqual([]);
});

test.each<[string, object]>([
  ["headers, which belong into the options", { headers: { a: "b" } }],
  ["a misspelt query", { params: { a: 1 } }],
  ["a query that is text", { query: "a=1" }],
])("%s is refused, and nothing is sent", async (_what, over) => {
  const { sandbox, client } = scene();
  await expect(client.request({ method: "GET", path: "/api/v1/contacts", ...over })).rejects.toBeInstanceOf(
    ValidationError,
  );
  expect(sandbox.state.requests).toEqual([]);
});

test("URLSearchParams go out as they are, a name that appears twice too", async () => {
  const { sandbox, client } = scene();
  const query = new URLSearchParams([
    ["tag", "a b"],
    ["tag", "c"],
  ]);
  const asked = [
    client.request({ method: "GET", path: "/api/v1/things", query }),
    client.request({ method: "POST", path: "/api/v1/things", query, body: {} }),
  ];
  for (const answer of asked) await expect(answer).rejects.toMatchObject({ status: 404 });
  const { fetch } = sandbox;
  expect(sandbox.state.requests.map(({ path }) => path)).toEqual(["/api/v1/things", "/api/v1/things"]);
  const urls: string[] = [];
  const other = client.withOptions({
    fetch: async (url, init) => {
      urls.push(url);
      return fetch(url, init);
    },
  });
  await other.request({ method: "GET", path: "/api/v1/contacts", query });
  expect(urls.map((url) => new URL(url).search)).toEqual(["?tag=a%20b&tag=c"]);
});

const form = new FormData();
form.set("a", "b");

test.each<[string, unknown]>([
  ["a Map", new Map([["a", 1]])],
  ["a Set inside", { tags: new Set(["a"]) }],
  ["a form", form],
  ["a Blob", new Blob(["a"])],
  ["URLSearchParams", new URLSearchParams("a=b")],
  ["a Buffer", Buffer.from("a")],
  ["bytes", new Uint8Array(3)],
  ["an ArrayBuffer", new ArrayBuffer(3)],
  ["a stream", new ReadableStream()],
  ["a function", () => undefined],
  ["NaN inside", [{ a: Number.NaN }]],
])("a body that is, or holds, %s is refused by name, and nothing is sent", async (_what, body) => {
  const { sandbox, client } = scene();
  await expect(client.request({ method: "POST", path: "/api/v1/contacts", body })).rejects.toMatchObject({
    name: "ValidationError",
    message: expect.stringMatching(/^request: body(\[.*\])* must /),
  });
  expect(sandbox.state.requests).toEqual([]);
});

test.each<[string, object]>([
  ["a Map", new Map([["a", "b"]])],
  ["headers", new Headers({ a: "b" })],
  ["an array", ["a"]],
  ["an object in it", { a: { b: 1 } }],
  ["a list in it", { a: ["b", "c"] }],
])("a query that is, or holds, %s is refused, and nothing is sent", async (_what, query) => {
  const { sandbox, client } = scene();
  const asked = client.request({ method: "GET", path: "/api/v1/contacts", query: Object(query) });
  await expect(asked).rejects.toMatchObject({
    name: "ValidationError",
    message: expect.stringMatching(/query(\.a)? must be/),
  });
  expect(sandbox.state.requests).toEqual([]);
});

test.each([
  "keep-alive",
  "Proxy-Connection",
  "TE",
  "trailer",
  "Proxy-Authorization",
  "X-HTTP-Method-Override",
])("a %s header is refused before anything is sent, of a client and of a call", async (name) => {
  const headers = { [name]: "1" };
  const { sandbox, client } = scene();
  const request = { method: "GET", path: "/api/v1/contacts" } as const;
  await expect(client.request(request, { headers })).rejects.toThrow(`${name} cannot be an extra header`);
  expect(() => client.withOptions({ headers })).toThrow(`${name} cannot be an extra header`);
  expect(sandbox.state.requests).toEqual([]);
});

test("a long sentence is cut in the message and complete in the body", async () => {
  const error = "no ".repeat(1_400_000);
  const { client } = scene({ fetch: async () => Response.json({ error }, { status: 400 }) });
  const failed = await client.contacts.list().catch((reason: unknown) => reason);
  expect(failed).toMatchObject({ name: "BadRequestError", body: { error } });
  expect(String(failed)).toMatch(/^BadRequestError: (no )+n?o?… \(4200000 characters\)$/);
  expect(String(failed).length).toBeLessThan(2_100);
});

test("a sentence that is nested 100,000 objects deep is ignored", async () => {
  const body = `${'{"error":'.repeat(100_000)}"no"${"}".repeat(100_000)}`;
  const { client } = scene({ fetch: async () => new Response(body, { status: 400 }) });
  await expect(client.contacts.list()).rejects.toMatchObject({
    name: "BadRequestError",
    message:
      "contacts.list: a gateway or the service responded with 400 without a reason. Nothing was changed.",
  });
});

test("a segment with a colon is sent as it is", async () => {
  const { sandbox, client } = scene();
  const paths = ["/api/v1/things/:odd", "/api/v1/things/:id", "/api/v1/contacts/:id", "/api/v1/a:b"];
  for (const path of paths) {
    await expect(client.request({ method: "GET", path })).rejects.toMatchObject({ status: 404 });
  }
  expect(sandbox.state.requests.map(({ path }) => path)).toEqual(paths);
});

test.each<[RawRequest, Partial<Record<"requests" | "events" | "emails", number>>]>([
  [{ method: "POST", path: "/api/v1/events/batch", body: { events: [{}, {}, {}] } }, { events: 3 }],
  [{ method: "POST", path: "/api/v1/events/batch/", body: { events: [{}, {}] } }, { events: 2 }],
  [{ method: "POST", path: "/api/v1/events/batch", body: { events: [] } }, { events: 1 }],
  [{ method: "POST", path: "/api/v1/events/batch", body: { events: "many" } }, { events: 1 }],
  [{ method: "POST", path: "/api/v1/events/batch", body: { events: { length: 1e9 } } }, { events: 1 }],
  [{ method: "POST", path: "/api/v1/events/batch", body: null }, { events: 1 }],
  [{ method: "POST", path: "/api/v1/events/batch" }, { events: 1 }],
  [{ method: "POST", path: "/api/v1/events", body: {} }, { events: 1 }],
  [{ method: "POST", path: "/api/v1/emails", body: {} }, { emails: 1 }],
  [{ method: "PUT", path: "/api/v1/events/batch", body: { events: [{}, {}] } }, {}],
])("%j uses %j in addition to the request", async (request, spent) => {
  const { client } = scene();
  await client.request(request).catch(() => undefined);
  const { requests, events, emails } = client.budgets();
  const used = { requests: requests.used, events: events.used, emails: emails.used };
  expect(used).toEqual({ requests: 1, events: 0, emails: 0, ...spent });
});

test("hooks get no path of a free request, because it may contain an id", async () => {
  const told: unknown[] = [];
  const hooks = { onRequest: (notice: object) => void told.push(notice) };
  const { sandbox, client } = scene({ hooks });
  const request = { method: "PATCH", path: "/api/v1/contacts/ada@example.com" } as const;
  await client.request(request).catch(() => undefined);
  expect(told).toEqual([{ operation: "request", method: "PATCH", route: "request", attempt: 1 }]);
  expect(sandbox.state.requests.map(({ path }) => path)).toEqual([request.path]);
});

test("a sibling shares the sockets' slots and the budgets of its client", async () => {
  const { client } = scene();
  const sibling = client.withOptions({ maxRetries: 0 });
  await sibling.contacts.list();
  expect(client.budgets().requests.used).toBe(1);
  expect(sibling.budgets()).toEqual(client.budgets());
});

test.each([
  ["POST", "/api/v1/emails"],
  ["POST", "/api/v1/emails/"],
  ["POST", "/API/v1/Emails"],
  ["POST", "/api//v1/emails"],
  ["POST", "/api/v1/%65mails"],
  ["POST", "/api/v1/%2565mails"],
  ["POST", "/api/v1/emails;v=1"],
  ["POST", "/mail/send"],
] as const)("%s %s spends the emails, as the guard takes it for one", async (method, path) => {
  const { client } = scene({ routes: { "emails.send": "/mail/send" } });
  await client.request({ method, path, body: {} }).catch(() => undefined);
  expect([client.budgets().emailsPerDay.used, client.budgets().requests.used]).toEqual([1, 1]);
});

test.each([
  ["/api/v1/events", { events: [1, 2] }, 1],
  ["/api/v1/%65vents", {}, 1],
  ["/api/v1/events/batch", { events: [1, 2] }, 2],
  ["/API/v1//events/Batch/", { events: [1, 2, 3] }, 3],
  ["/bulk", { events: [1, 2] }, 2],
])("POST %s spends events by their number", async (path, body, used) => {
  const { client } = scene({ routes: { "events.recordBatch": "/bulk" } });
  await client.request({ method: "POST", path, body }).catch(() => undefined);
  expect([client.budgets().eventsPerDay.used, client.budgets().emailsPerDay.used]).toEqual([used, 0]);
});

test.each([
  ["GET", "/api/v1/emails"],
  ["PATCH", "/api/v1/emails/scheduled/1"],
  ["POST", "/api/v1/emails-archive"],
  ["POST", "/api/v1/contacts"],
] as const)("%s %s spends requests only", async (method, path) => {
  const { client } = scene();
  await client.request({ method, path }).catch(() => undefined);
  const { requests, emailsPerDay, eventsPerDay } = client.budgets();
  expect([requests.used, emailsPerDay.used, eventsPerDay.used]).toEqual([1, 0, 0]);
});

test.each([
  ["/api/v1/lists/li-1/emails", "unknown"],
  ["/api/v1/emails", "not-applied"],
])("a 502 to POST %s is about the mail account only where an email is sent", async (path, outcome) => {
  const answer = () => Promise.resolve(Response.json({ error: "The sync failed" }, { status: 502 }));
  const { client } = scene({ fetch: answer });
  const sent = client.request({ method: "POST", path, body: {} });
  await expect(sent).rejects.toMatchObject({ status: 502, outcome, attempts: 1 });
});
