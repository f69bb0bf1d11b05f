import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { Client, type ClientOptions, type IngestOptions } from "../../../src/index.ts";
import type { Checkpoint, CheckpointStore } from "../../../src/runtime/checkpoint.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";

// It loads with its first use, which takes no time on the clock of these tests but turns of the event loop.
beforeAll(() => import("p-retry"));

const never = new Promise<never>(() => undefined);

/** A client of the sandbox; every answer takes 100 ms. */
const scene = (options: ClientOptions = {}) => {
  const clock = new FakeClock();
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    await clock.sleep(100);
    return sandbox.fetch(url, init);
  };
  const given = { apiKey: "key", baseUrl: "http://localhost", fetch, limits: false, maxRetries: 0 } as const;
  return { clock, sandbox, client: new Client({ ...given, ...options }, { clock, random: () => 0 }) };
};

const memoryStore = () => {
  const saved: Checkpoint[] = [];
  const store: CheckpointStore = {
    load: async () => saved.at(-1),
    save: async (state) => void saved.push(state),
  };
  return { saved, store };
};

const endOf = async (clock: FakeClock, call: Promise<unknown>) => {
  const error = await clock.until(call.catch((reason: unknown) => reason));
  return { error, atMs: clock.now() };
};

const events = (count: number) => Array.from({ length: count }, (_, at) => anEvent({ properties: { at } }));

const oneByOne = { batchSize: 10, concurrency: 1 } as const;

test("an ingestion ends by its total time, and the next goes on from its checkpoint", async () => {
  const { client, clock, sandbox } = scene();
  const { saved, store } = memoryStore();
  const options = { ...oneByOne, checkpoint: store };
  const end = await endOf(clock, client.events.ingest(events(100), { ...options, totalTimeoutMs: 350 }));
  expect(end).toMatchObject({
    error: {
      code: "timeout",
      operation: "events.ingest",
      outcome: "unknown",
      partial: { report: { accepted: 30, unknown: 20 } },
    },
    atMs: 350,
  });
  expect(saved.at(-1)).toMatchObject({ done: 30 });
  const report = await clock.until(client.events.ingest(events(100), options));
  expect(report).toMatchObject({ skipped: 30, unknown: 0, rejected: 0 });
  expect(sandbox.state.events).toHaveLength(100);
});

test("an ingestion without a total time of its own outlasts the client's, which bounds each request", async () => {
  const { client, clock } = scene({ totalTimeoutMs: 150 });
  expect(await clock.until(client.events.ingest(events(50), oneByOne))).toMatchObject({ accepted: 50 });
  const hasty = scene({ totalTimeoutMs: 50 });
  const end = await endOf(hasty.clock, hasty.client.events.ingest(events(50), oneByOne));
  expect(end).toMatchObject({ error: { code: "timeout" }, atMs: 50 });
});

test("an ingestion's total time goes before the client's", async () => {
  const { client, clock } = scene({ totalTimeoutMs: 50 });
  const report = client.events.ingest(events(50), { ...oneByOne, totalTimeoutMs: 5_000 });
  expect(await clock.until(report)).toMatchObject({ accepted: 50 });
});

test("an ingestion ends by its total time while it waits to repeat", async () => {
  const { client, clock, sandbox } = scene({ maxRetries: 4 });
  const times = Number.POSITIVE_INFINITY;
  sandbox.fail({ operation: "events.recordBatch", times, with: { items: [0], status: 503 } });
  const end = await endOf(clock, client.events.ingest(events(2), { totalTimeoutMs: 400 }));
  expect(end).toMatchObject({ error: { code: "timeout", outcome: "unknown" }, atMs: 400 });
});

const stalling = async function* () {
  yield* events(10);
  await never;
};

test.each<readonly [string, () => IngestOptions, () => ClientOptions]>([
  [
    "its checkpoint cannot be loaded",
    () => ({ checkpoint: { load: () => never, save: async () => undefined } }),
    () => ({}),
  ],
  [
    "a schema never answers",
    () => ({}),
    () => ({ events: { "order.placed": z.object({}).refine(() => never) } }),
  ],
])("an ingestion ends by its total time, with nothing sent, while %s", async (_name, own, client) => {
  const { client: stalled, clock, sandbox } = scene(client());
  const end = await endOf(clock, stalled.events.ingest(events(10), { ...own(), totalTimeoutMs: 350 }));
  expect(end).toMatchObject({ error: { code: "timeout", outcome: "not-applied" }, atMs: 350 });
  expect(sandbox.state.requests).toEqual([]);
});

test("an ingestion ends by its total time while its source stalls", async () => {
  const { client, clock } = scene();
  const { saved, store } = memoryStore();
  const options = { ...oneByOne, totalTimeoutMs: 350, checkpoint: store };
  const end = await endOf(clock, client.events.ingest(stalling(), options));
  expect(end).toMatchObject({ error: { code: "timeout" }, atMs: 350 });
  expect(saved).toMatchObject([{ done: 10 }]);
  expect(clock.pending).toBe(0);
});

test.each<readonly [string, IngestOptions]>([
  ["onRejected", { onRejected: () => never }],
  ["a store", { checkpoint: { load: async () => undefined, save: () => never } }],
])("an ingestion ends by its total time while %s hangs", async (_name, own) => {
  const { client, clock } = scene();
  const source = [...events(10), anEvent({ name: "" }), ...events(9)];
  const options = { ...oneByOne, ...own, totalTimeoutMs: 350 };
  const end = await endOf(clock, client.events.ingest(source, options));
  expect(end).toMatchObject({ error: { code: "timeout", outcome: "unknown" }, atMs: 350 });
});

test("an import that times out rejects no row, and the next run continues from its checkpoint", async () => {
  const { client, clock, sandbox } = scene();
  const { saved, store } = memoryStore();
  const rows = Array.from({ length: 100 }, (_, at) => ({ email: `p${at}@example.com` }));
  const options = { concurrency: 1, checkpoint: store };
  const end = await endOf(clock, client.contacts.import(rows, { ...options, totalTimeoutMs: 2_950 }));
  expect(end).toMatchObject({
    error: {
      code: "timeout",
      operation: "contacts.import",
      outcome: "unknown",
      // One answer of the 29 was the first page of the list.
      partial: { report: { created: 28, rejected: 0 } },
    },
    atMs: 2_950,
  });
  expect(saved.at(-1)).toMatchObject({ done: 25 });
  expect(await clock.until(client.contacts.import(rows, options))).toMatchObject({
    skipped: 25,
    rejected: 0,
  });
  expect(sandbox.state.contacts).toHaveLength(100);
});

test.each(["ingest", "import"] as const)(
  "an invalid total time of %s is reported before anything is read",
  async (which) => {
    const { client, sandbox } = scene();
    const options = { totalTimeoutMs: 0 };
    const run = which === "ingest" ? client.events.ingest([], options) : client.contacts.import([], options);
    await expect(run).rejects.toThrow("totalTimeoutMs must be a number of at least 1, got 0");
    expect(sandbox.state.requests).toEqual([]);
  },
);
