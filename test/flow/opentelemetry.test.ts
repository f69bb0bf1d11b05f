import { tracingChannel } from "node:diagnostics_channel";
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { instrument } from "../../src/opentelemetry/index.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

const key = "canary-0123456789";
const ada = "ada@example.com";

let sandbox: Sandbox;
let spans: InMemorySpanExporter;
let tracerProvider: BasicTracerProvider;
let metrics: InMemoryMetricExporter;
let reader: PeriodicExportingMetricReader;
let stop: () => void;

beforeEach(() => {
  sandbox = createSandbox({ apiKeys: [key] });
  spans = new InMemorySpanExporter();
  tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  metrics = new InMemoryMetricExporter(AggregationTemporality.DELTA);
  reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 1e8 });
  stop = instrument({ tracerProvider, meterProvider: new MeterProvider({ readers: [reader] }) });
});
afterEach(async () => {
  stop();
  await reader.shutdown();
});

const make = (options: ClientOptions = {}, clock = new FakeClock()) => {
  const all = { apiKey: key, baseUrl: "https://crm.test", fetch: sandbox.fetch, ...options };
  return { clock, client: new Client(all, { clock, random: () => 0 }) };
};

/** The spans that have ended, a call before its attempts. */
const ended = () => {
  const found = spans.getFinishedSpans();
  const nameOf = (id: string | undefined) => found.find((span) => span.spanContext().spanId === id)?.name;
  return found
    .map(({ name, kind, attributes, status, parentSpanContext }) => ({
      name,
      kind,
      attributes,
      hasFailed: status.code === SpanStatusCode.ERROR,
      parent: nameOf(parentSpanContext?.spanId),
    }))
    .toSorted((a, b) => a.kind - b.kind);
};

const server = { "server.address": "crm.test", "server.port": 443 };

test("a call has a span, and each of its attempts one below it", async () => {
  const { client } = make();
  await client.contacts.create({ email: ada });
  expect(ended()).toEqual([
    {
      name: "contacts.create",
      kind: SpanKind.INTERNAL,
      parent: undefined,
      hasFailed: false,
      attributes: {
        "touchpoint.operation": "contacts.create",
        "touchpoint.attempts": 1,
        "http.response.status_code": 201,
      },
    },
    {
      name: "POST /api/v1/contacts",
      kind: SpanKind.CLIENT,
      parent: "contacts.create",
      hasFailed: false,
      attributes: {
        ...server,
        "touchpoint.operation": "contacts.create",
        "http.request.method": "POST",
        "url.template": "/api/v1/contacts",
        "http.response.status_code": 201,
      },
    },
  ]);
});

test("a repeat says so, and what failed before it failed", async () => {
  sandbox.fail({ operation: "contacts.list", times: 1, with: { status: 503 } });
  const { client, clock } = make();
  await clock.until(Promise.resolve(client.contacts.list()));
  expect(ended().map(({ attributes, hasFailed }) => [attributes, hasFailed])).toMatchObject([
    [{ "touchpoint.attempts": 2, "http.response.status_code": 200 }, false],
    [{ "http.response.status_code": 503, "error.type": "503" }, true],
    [{ "http.response.status_code": 200, "http.request.resend_count": 1 }, false],
  ]);
});

test("the span of a failed call has its status, attempts, code and outcome, but not the service's sentence", async () => {
  const { client } = make({
    fetch: async () => Response.json({ error: `${ada} is there` }, { status: 409 }),
  });
  await expect(client.contacts.create({ email: ada })).rejects.toThrow(ada);
  const [call, attempt] = ended();
  expect(call).toMatchObject({
    hasFailed: true,
    attributes: {
      "http.response.status_code": 409,
      "touchpoint.attempts": 1,
      "error.type": "conflict",
      "touchpoint.outcome": "not-applied",
    },
  });
  expect(attempt).toMatchObject({ hasFailed: true, attributes: { "error.type": "409" } });
});

test.each<[string, () => Promise<Response>, string]>([
  [
    "a system error",
    () => Promise.reject(Object.assign(new Error("no"), { code: "ECONNRESET" })),
    "ECONNRESET",
  ],
  ["a timeout", () => new Promise(() => undefined), "timeout"],
])("the span of an attempt without a response has the reason: %s", async (_why, fetch, type) => {
  const { client, clock } = make({ fetch, maxRetries: 0 });
  await clock.until(client.contacts.list().catch(() => undefined));
  const [call, attempt] = ended();
  expect(call).toMatchObject({ hasFailed: true, attributes: { "touchpoint.attempts": 1 } });
  expect(attempt).toMatchObject({ hasFailed: true, attributes: { "error.type": type } });
  expect(attempt?.attributes).not.toHaveProperty("http.response.status_code");
});

test("a call that its own signal ends has failed as aborted", async () => {
  const { client } = make({ fetch: () => new Promise(() => undefined) });
  const abort = new AbortController();
  const call = client.contacts.list({}, { signal: abort.signal }).catch(() => undefined);
  abort.abort(new Error(ada));
  await call;
  expect(ended()[0]).toMatchObject({ hasFailed: true, attributes: { "error.type": "aborted" } });
});

test("attempts of calls that wait for each other stay with their own", async () => {
  const { client, clock } = make({ limits: { requests: { max: 1, windowMs: 1_000 } } });
  await clock.until(
    Promise.all([
      client.contacts.list(),
      client.lists.create({ name: "a" }),
      client.companies.findByDomain("a.example"),
    ]),
  );
  const attempts = ended().filter(({ kind }) => kind === SpanKind.CLIENT);
  expect(attempts.map(({ attributes, parent }) => [attributes["touchpoint.operation"], parent])).toEqual([
    ["lists.create", "lists.create"],
    ["companies.findByDomain", "companies.findByDomain"],
    ["contacts.list", "contacts.list"],
  ]);
});

test("calls are children of the span that is active in the program", async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const { client } = make();
  const own = tracerProvider.getTracer("program").startSpan("job");
  await context.with(trace.setSpan(context.active(), own), async () => client.contacts.list());
  own.end();
  context.disable();
  expect(ended().map(({ name, parent }) => [name, parent])).toEqual([
    ["contacts.list", "job"],
    ["job", undefined],
    ["GET /api/v1/contacts", "contacts.list"],
  ]);
});

test("the metrics are the duration of attempts and the waits of calls, in seconds", async () => {
  const clock = new FakeClock();
  const fetch: typeof sandbox.fetch = async (...request) => {
    await clock.sleep(250);
    return sandbox.fetch(...request);
  };
  const { client } = make({ fetch, limits: { requests: { max: 1, windowMs: 2_000 } } }, clock);
  const lists = [client.contacts.list().withResponse(), client.contacts.list().withResponse()];
  const waited = (await clock.until(Promise.all(lists))).map(({ response }) => response.waitedMs);
  await clock.until(client.contacts.update("c_none", { name: "Ada" }).catch(() => undefined));
  await reader.forceFlush();
  const points = metrics
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    .flatMap(({ descriptor: { name, unit }, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => ({ name, unit, attributes, value })),
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 0));
  const get = { ...server, "http.request.method": "GET", "url.template": "/api/v1/contacts" };
  expect(points).toMatchObject([
    {
      name: "http.client.request.duration",
      unit: "s",
      attributes: { ...get, "http.response.status_code": 200 },
      value: { count: 2, sum: 0.5 },
    },
    {
      name: "http.client.request.duration",
      attributes: { "url.template": "/api/v1/contacts/:id", "error.type": "404" },
      value: { count: 1 },
    },
    {
      name: "touchpoint.wait.duration",
      unit: "s",
      attributes: { "touchpoint.operation": "contacts.list" },
      value: { count: 2, sum: waited.reduce((sum, ms) => sum + ms / 1_000, 0), min: 0 },
    },
  ]);
});

test("an upsert is one span, with its requests inside, and a known contact is no failure of it", async () => {
  const { client } = make();
  await client.contacts.upsert({ email: ada, name: "Ada" });
  await client.contacts.upsert({ email: ada, name: "Ada L." });
  const finished = spans.getFinishedSpans();
  const calls = finished.filter(({ kind }) => kind !== SpanKind.CLIENT);
  expect(calls.map(({ name, status }) => [name, status.code])).toEqual([
    ["contacts.upsert", SpanStatusCode.UNSET],
    ["contacts.upsert", SpanStatusCode.UNSET],
  ]);
  const [, second] = calls;
  const inside = finished.filter(
    ({ parentSpanContext }) => parentSpanContext?.spanId === second?.spanContext().spanId,
  );
  expect(inside.map(({ attributes }) => attributes["touchpoint.operation"])).toEqual([
    ...["contacts.create", "contacts.list", "contacts.update"],
  ]);
});

test("no span or metric contains the key or an address", async () => {
  const { client } = make({ maxRetries: 0 });
  await client.contacts.upsert({ email: ada, name: "Ada" });
  await client.contacts.upsert({ email: ada, name: "Ada L." });
  await client.contacts.create({ email: ada }).catch(() => undefined);
  await client.request({ method: "GET", path: `/api/v1/contacts/${ada}` }).catch(() => undefined);
  await reader.forceFlush();
  const told = JSON.stringify([
    spans
      .getFinishedSpans()
      .map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    metrics.getMetrics().map(({ scopeMetrics }) => scopeMetrics),
  ]);
  expect(told).toContain("contacts.update");
  expect(told).not.toContain(key);
  expect(told).not.toMatch(/ada/i);
});

test("an attempt of client.request has no template, since its path may hold an address", async () => {
  const { client } = make();
  await client.request({ method: "GET", path: `/api/v1/contacts/${ada}` }).catch(() => undefined);
  const attempt = ended()[1];
  expect(attempt).toMatchObject({ name: "GET", attributes: { "error.type": "404" } });
  expect(attempt?.attributes).not.toHaveProperty("url.template");
});

test("once it is stopped, nothing more is traced, and no listener is left", async () => {
  stop();
  await make().client.contacts.list();
  expect(ended()).toEqual([]);
  const names = ["touchpoint:call", "touchpoint:attempt"];
  expect(names.map((name) => tracingChannel(name).hasSubscribers)).toEqual([false, false]);
});
