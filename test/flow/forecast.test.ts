import { expect, test } from "vitest";
import * as z from "zod";
import { Client, type ClientOptions, type Progress } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

const service = (options: ClientOptions = {}) => {
  const clock = new FakeClock();
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, clock });
  const given = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, ...options };
  return { clock, sandbox, client: new Client(given, { clock, random: () => 0 }) };
};

const seen = (id: number, occurredAt?: Date) => ({
  id: `e-${id}`,
  name: "page.viewed",
  contact: { email: "ada@example.com" },
  ...(occurredAt && { occurredAt }),
});
const events = (count: number) => Array.from({ length: count }, (_, id) => seen(id));

test.each([
  [0, { durationMs: 0, days: 0 }],
  [100, { durationMs: 2_000, days: 1 }],
  [100_000, { durationMs: 2_000_000, days: 1 }],
  [100_001, { durationMs: dayMs + 20, days: 2 }],
  [10_000_000, { durationMs: 99 * dayMs + 2_000_000, days: 100 }],
])("%i events at the documented limits", async (count, told) => {
  const { client } = service();
  expect(await client.events.forecast(count)).toEqual({ events: count, tooOld: undefined, ...told });
});

test("the used part of today's limits is not available for the events", async () => {
  const { client } = service({ limits: { eventsPerDay: 10 } });
  await client.events.recordBatch(events(4));
  expect(await client.events.forecast(6)).toMatchObject({ days: 1 });
  expect(await client.events.forecast(7)).toMatchObject({ days: 2, durationMs: dayMs + 20 });
});

test("the limits of requests count, for as many events as one request has", async () => {
  const { client } = service({ limits: { requests: { max: 1, windowMs: 10_000 }, requestsPerDay: 3 } });
  expect(await client.events.forecast(20, { batchSize: 10 })).toMatchObject({ durationMs: 20_000, days: 1 });
  expect(await client.events.forecast(31, { batchSize: 10 })).toMatchObject({ days: 2 });
});

test("without limits nothing takes time", async () => {
  const { client } = service({ limits: false });
  expect(await client.events.forecast(1e9)).toMatchObject({ durationMs: 0, days: 1 });
});

test("events that will be older than 72 hours when their turn comes are counted, and nothing is sent", async () => {
  const { client, clock, sandbox } = service({ limits: { eventsPerDay: 2 } });
  const ago = (hours: number) => new Date(clock.wallTime() - hours * hourMs);
  // Two today, two tomorrow, two the day after.
  const source = [71, 73, 47, 49, 25, 23].map((hours, id) => seen(id, ago(hours)));
  const stream = (async function* () {
    yield* source;
    yield seen(6);
  })();
  expect(await client.events.forecast(stream)).toMatchObject({ events: 7, days: 4, tooOld: 3 });
  expect(sandbox.state.requests).toHaveLength(0);
});

test("an event that an ingestion would refuse without sending it does not count", async () => {
  const { client } = service({ limits: { eventsPerDay: 2 } });
  // As a file may have them.
  const source = [seen(0), { name: "page.viewed" }, null, seen(1)] as never;
  expect(await client.events.forecast(source)).toMatchObject({ events: 2, days: 1 });
});

test("a schema that never answers does not hold a forecast against its signal", async () => {
  const { client } = service({
    events: { "page.viewed": z.object({}).refine(() => new Promise(() => undefined)) },
  });
  const abort = new AbortController();
  const told = client.events.forecast([{ ...seen(0), properties: {} }], { signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(told).rejects.toThrow("enough");
});

test("onProgress has the forecast of what is left, of a stream too", async () => {
  const { client, clock } = service({ limits: { eventsPerDay: 5 } });
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => void told.push(progress);
  const old = new Date(clock.wallTime() - 73 * hourMs);
  await clock.until(
    client.events.ingest([seen(0, old), ...events(4).slice(1)], { batchSize: 2, concurrency: 1, onProgress }),
  );
  expect(told[0]?.forecast).toMatchObject({ events: 2, days: 1, tooOld: 0 });
  expect(told.at(-1)?.forecast).toMatchObject({ events: 0, durationMs: 0 });
  const stream = (async function* () {
    yield seen(0);
  })();
  await clock.until(client.events.ingest(stream, { total: 1, onProgress }));
  expect(told.at(-1)?.forecast).toEqual({ events: 0, durationMs: 0, days: 0, tooOld: undefined });
});

test.each([
  ["events", {}, /the source must be a whole number/],
  [1.5, {}, /the source must be a whole number/],
  [[], { batchSize: 0 }, /batchSize must be a whole number from 1 to 100, got 0/],
  [[], { batchsize: 1 }, /batchsize/],
  [[], { signal: 1 }, /signal must be/],
])("%j with %j is refused", async (source, options, message) => {
  const { client } = service();
  // As JavaScript may.
  await expect(client.events.forecast(source as never, options as never)).rejects.toThrow(message);
});

test("a used-up daily limit ends an ingestion or makes it wait", async () => {
  const { client, clock, sandbox } = service({ limits: { eventsPerDay: 4 } });
  const options = { batchSize: 2, concurrency: 1 } as const;
  await expect(clock.until(client.events.ingest(events(6), options))).rejects.toMatchObject({
    code: "rate_limited",
    limit: "eventsPerDay",
  });
  const waits = new Set<string | undefined>();
  const report = await clock.until(
    client.events.ingest(events(10), {
      ...options,
      onDailyLimit: "wait",
      onProgress: ({ waitingFor }) => void waits.add(waitingFor),
    }),
  );
  expect(report).toMatchObject({ accepted: 6, duplicates: 4, unknown: 0 });
  expect(sandbox.state.events).toHaveLength(10);
  expect(waits).toContain("eventsPerDay");
  expect(clock.now()).toBeGreaterThan(dayMs);
});

test("a Retry-After of hours is treated like a used-up daily limit", async () => {
  const { client, clock, sandbox } = service();
  sandbox.fail({ operation: "events.recordBatch", with: { status: 429, retryAfter: 7_200 } });
  const report = await clock.until(client.events.ingest(events(2), { onDailyLimit: "wait" }));
  expect(report).toMatchObject({ accepted: 2 });
  expect(clock.now()).toBeGreaterThanOrEqual(2 * hourMs);
});

test.each<readonly [string, (client: Client, abort: AbortController) => unknown, object]>([
  ["its signal", (_client, abort) => abort.abort(new Error("enough")), { message: "enough" }],
  [
    "close()",
    (client) => client.close(),
    { code: "connection_failed", partial: { report: { accepted: 1 } } },
  ],
])("%s ends the wait for a day", async (_what, end, error) => {
  const { client, clock } = service({ limits: { eventsPerDay: 1 } });
  const abort = new AbortController();
  const run = client.events.ingest(events(2), {
    batchSize: 1,
    concurrency: 1,
    signal: abort.signal,
    onDailyLimit: "wait",
    onProgress: ({ waitingFor }) => {
      if (waitingFor === "eventsPerDay") void end(client, abort);
    },
  });
  await expect(clock.until(run)).rejects.toMatchObject(error);
  expect(clock.now()).toBeLessThan(dayMs);
});

test("onDailyLimit is one of its two words", async () => {
  const { client } = service();
  // As JavaScript may.
  const options = { onDailyLimit: "later" } as never;
  await expect(client.events.ingest([], options)).rejects.toThrow('onDailyLimit must be "error" or "wait"');
});
