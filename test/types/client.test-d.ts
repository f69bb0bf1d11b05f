import {
  type ApiPromise,
  type BudgetState,
  Client,
  type Contact,
  mockResponse,
  type ResponseInfo,
} from "touchpoint-sdk";
import * as undici from "undici";
import { expectTypeOf, test } from "vitest";
import type { CloseReport } from "../../src/index.ts";

declare const client: Client;
declare const contact: Contact;

test("a client is made of options that exist, or of none", () => {
  new Client();
  // An environment variable may be undefined.
  new Client({ apiKey: process.env.KEY, baseUrl: process.env.URL, timeoutMs: undefined, ledger: undefined });
  new Client({ apiKey: async () => "key", timeoutMs: 1, logLevel: "debug", limits: false });
  new Client({ hooks: { onRetry: ({ waitMs }) => void expectTypeOf(waitMs).toEqualTypeOf<number>() } });
  // @ts-expect-error no such option
  new Client({ apikey: "key" });
  // @ts-expect-error a key, or what gives one
  new Client({ apiKey: 1 });
  // @ts-expect-error no such level
  new Client({ logLevel: "verbose" });
  // @ts-expect-error no such hook
  new Client({ hooks: { onAnswer: () => {} } });
  // @ts-expect-error a logger has every level
  new Client({ logger: { error: () => {} } });
  // @ts-expect-error a budget is spent by its own name
  new Client({ limits: { mails: { max: 1, windowMs: 1 } } });
});

test("a sibling takes the options of a client", () => {
  expectTypeOf(client.withOptions({ timeoutMs: 1 })).toEqualTypeOf<Client>();
  // @ts-expect-error no such option
  client.withOptions({ timeout: 1 });
  // @ts-expect-error what changes is given
  client.withOptions();
});

test("a free request has a method and a path, and an unknown answer", () => {
  expectTypeOf(client.request({ method: "GET", path: "/api/v1/tags" })).toEqualTypeOf<ApiPromise<unknown>>();
  client.request(
    { method: "GET", path: "/", query: { skip: 1, deep: true, left: undefined } },
    { maxRetries: 0 },
  );
  client.request({ method: "POST", path: "/", body: ["anything"], replay: "keyed" });
  // @ts-expect-error the path is required
  client.request({ method: "GET" });
  // @ts-expect-error the method is required
  client.request({ path: "/" });
  // @ts-expect-error in upper case
  client.request({ method: "get", path: "/" });
  // @ts-expect-error a request is no plain path
  client.request("/api/v1/tags");
  // @ts-expect-error no such replay class
  client.request({ method: "POST", path: "/", replay: "once" });
  // @ts-expect-error a query is flat
  client.request({ method: "GET", path: "/", query: { filter: { name: "a" } } });
  // @ts-expect-error no such option
  client.request({ method: "GET", path: "/" }, { retries: 1 });
});

test("a result gives access to its response", () => {
  const answered = client.contacts.create({ email: "ada@example.com" }).withResponse();
  expectTypeOf(answered).resolves.toHaveProperty("response").toEqualTypeOf<ResponseInfo>();
  // @ts-expect-error nothing to choose
  client.contacts.create({ email: "ada@example.com" }).withResponse("headers");
});

test("budgets have the names of their limits", () => {
  expectTypeOf(client.budgets().emailsPerDay).toEqualTypeOf<BudgetState>();
  // @ts-expect-error no such budget
  client.budgets().mails;
  // @ts-expect-error all of them at once
  client.budgets("emails");
});

test("a client is closed by hand or by its scope", async () => {
  expectTypeOf(client.close({ graceMs: 25_000 })).resolves.toEqualTypeOf<CloseReport>();
  await using scoped = new Client();
  expectTypeOf(scoped[Symbol.asyncDispose]()).resolves.toEqualTypeOf<void>();
  // @ts-expect-error it always waits
  client.close({ force: true });
  // @ts-expect-error closing takes time
  using hasty = new Client();
  hasty satisfies Client;
});

test("any fetch is taken: the global one, undici's, one of your own", () => {
  new Client({ fetch });
  new Client({ fetch: undici.fetch });
  new Client({ fetch: (url, init) => globalThis.fetch(url, init) });
  new Client({ fetch: (url, init) => undici.fetch(url, init) });
  new Client({ fetch: async (_url: string, _init: RequestInit) => new Response("{}") });
  // @ts-expect-error an answer, and no text
  new Client({ fetch: async () => "{}" });
});

test("an undefined header is left out", () => {
  new Client({ headers: { "x-trace": process.env.TRACE } });
  client.contacts.list({}, { headers: { "x-trace": undefined } });
  // @ts-expect-error text only
  client.contacts.list({}, { headers: { "x-trace": 1 } });
});

test("a mock of a method returns what the method does", () => {
  client.contacts.create = () => mockResponse(contact);
  client.companies.findByDomain = () => mockResponse(null, { status: 404 });
  // @ts-expect-error no contact
  client.contacts.create = () => mockResponse({ id: "c-1" });
  // @ts-expect-error without withResponse()
  client.contacts.create = async () => contact;
});
