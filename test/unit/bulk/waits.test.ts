import { expect, test } from "vitest";
import { ProgressReporter } from "../../../src/bulk/progress.ts";
import { Client, type ClientOptions, type Progress } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";

let services = 0;

/** A client of a sandbox with room for everything; every answer takes 50 ms. */
const scene = (options: ClientOptions = {}) => {
  const clock = new FakeClock();
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    await clock.sleep(50);
    return sandbox.fetch(url, init);
  };
  services += 1;
  // Clients of one origin share their budgets; tests must not.
  const baseUrl = `https://waits-${services}.test`;
  const client = new Client({ apiKey: "key", baseUrl, fetch, ...options }, { clock, random: () => 0.5 });
  const log: Progress[] = [];
  const told = (): Set<string | undefined> => new Set(log.map(({ waitingFor }) => waitingFor));
  return { clock, sandbox, client, log, told, onProgress: (progress: Progress) => void log.push(progress) };
};

const events = (count: number) => Array.from({ length: count }, (_, at) => anEvent({ properties: { at } }));

test("an ingestion says that it waits for events, and at its end for nothing", async () => {
  const { clock, client, log, told, onProgress } = scene();
  await clock.until(client.events.ingest(events(300), { onProgress }));
  expect(told()).toEqual(new Set(["events", undefined]));
  expect(log.at(-1)).toMatchObject({ done: 300, waitingFor: undefined });
  expect(clock.pending).toBe(0);
});

test("an import says that it waits for requests", async () => {
  const { clock, client, told, onProgress } = scene();
  const rows = Array.from({ length: 300 }, (_, at) => ({ email: `p${at}@example.com` }));
  await clock.until(client.contacts.import(rows, { onProgress, concurrency: 12 }));
  expect(told()).toContain("requests");
});

test("a pause that the service asks for is reported while it lasts, although nothing else happens", async () => {
  const { clock, sandbox, client, log, onProgress } = scene();
  sandbox.fail({ operation: "events.recordBatch", with: { status: 429, retryAfter: 7 } });
  await clock.until(client.events.ingest(events(10), { onProgress }));
  expect(log.map(({ done, waitingFor }) => [done, waitingFor])).toEqual([
    [0, "retry-after"],
    [10, undefined],
    [10, undefined],
  ]);
});

test("a back-off is reported, of a request and of single events", async () => {
  const { clock, sandbox, client, told, onProgress } = scene({ limits: false });
  sandbox.fail({ operation: "events.recordBatch", with: { status: 500 } });
  await clock.until(client.events.ingest(events(10), { onProgress }));
  expect(told()).toContain("retry");
  const second = scene({ limits: false });
  second.sandbox.fail({ operation: "events.recordBatch", with: { items: [0], status: 503 } });
  await second.clock.until(second.client.events.ingest(events(10), { onProgress: second.onProgress }));
  expect(second.told()).toContain("retry");
});

test("a source without an item is what the work waits for, once nothing is under way", async () => {
  const { clock, client, log, onProgress } = scene({ limits: false });
  const source = async function* () {
    yield* events(10);
    await clock.sleep(5_000);
    yield* events(5);
  };
  await clock.until(client.events.ingest(source(), { batchSize: 10, onProgress }));
  expect(log.map(({ done, waitingFor }) => [done, waitingFor])).toContainEqual([10, "source"]);
});

test("a callback that throws while a wait is reported ends the run, and nothing else", async () => {
  const { clock, client } = scene();
  const mine = new Error("mine");
  const onProgress = ({ waitingFor }: Progress): void => {
    if (waitingFor === "events") throw mine;
  };
  await expect(clock.until(client.events.ingest(events(300), { onProgress }))).rejects.toBe(mine);
  expect(clock.pending).toBe(0);
});

test("a pause goes before a limit, a limit before a back-off, and that before a free slot", () => {
  const waits = new ProgressReporter(undefined, undefined, new FakeClock());
  const ends = ["concurrency", "retry", "events", "retry-after"].map((what) => {
    const tell = waits.listener();
    tell(what);
    return { now: waits.waitingFor, end: () => tell(undefined) };
  });
  expect(ends.map(({ now }) => now)).toEqual(["concurrency", "retry", "events", "retry-after"]);
  for (const { end } of ends) end();
  expect(waits.waitingFor).toBeUndefined();
});
