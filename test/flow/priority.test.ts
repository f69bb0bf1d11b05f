import { expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { anEvent } from "../support/builders.ts";
import { FakeClock } from "../support/fake-clock.ts";

const roundTripMs = 50;
let services = 0;

/** A service that keeps the documented limits, and the weight of every batch that reached it. */
const scene = (options: ClientOptions = {}) => {
  const clock = new FakeClock();
  const sandbox = createSandbox({ apiKeys: ["key"], clock });
  const batches: number[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (url.endsWith("/batch")) batches.push(JSON.parse(String(init.body)).events.length);
    await clock.sleep(roundTripMs);
    return sandbox.fetch(url, init);
  };
  services += 1;
  // Clients of one origin share their budgets; tests must not.
  const baseUrl = `https://priority-${services}.test`;
  const client = new Client({ apiKey: "key", baseUrl, fetch, ...options }, { clock, random: () => 0.5 });
  return { clock, sandbox, client, batches };
};

const events = (count: number) => Array.from({ length: count }, (_, at) => anEvent({ properties: { at } }));

test("an ingestion alone sends batches of all that the budget lets through at once", async () => {
  const { clock, client, batches } = scene();
  await clock.until(client.events.ingest(events(200)));
  expect(batches).toEqual([50, 50, 50, 50]);
});

test("beside an ingestion no interactive call waits from the second window on", async () => {
  const { clock, sandbox, client, batches } = scene();
  const ingestion = client.events.ingest(events(3_000));
  const tookMs: number[] = [];
  await clock.advance(3_000);
  const before = batches.reduce((sum, size) => sum + size, 0);
  for (let second = 0; second < 40; second += 1) {
    const since = clock.now();
    void client.events.record(anEvent()).then(() => tookMs.push(clock.now() - since));
    await clock.advance(1_000);
  }
  const recorded = batches.reduce((sum, size) => sum + size, 0) - before;
  expect(tookMs.slice(2)).toEqual(Array.from({ length: 38 }, () => roundTripMs));
  expect(recorded).toBeGreaterThanOrEqual(40 * 50 * 0.8);
  await clock.until(ingestion);
  expect(sandbox.state.counts.byStatus).not.toHaveProperty("429");
});

test("beside an export no interactive call waits from the second window on", async () => {
  const { clock, sandbox, client } = scene();
  sandbox.seedContacts(6_000);
  const exported = client.contacts.list({ limit: 20 }).toArray({ max: 6_000 });
  const tookMs: number[] = [];
  for (let second = 0; second < 20; second += 1) {
    const since = clock.now();
    void client.contacts.find("nobody@example.com").then(() => tookMs.push(clock.now() - since));
    await clock.advance(1_000);
  }
  expect(tookMs.slice(11)).toEqual(Array.from({ length: 9 }, () => roundTripMs));
  expect(await clock.until(exported)).toHaveLength(6_000);
  expect(sandbox.state.counts.byStatus).not.toHaveProperty("429");
});

test("beside an export no interactive call waits where six of ten requests a second are interactive", async () => {
  const { clock, sandbox, client } = scene();
  sandbox.seedContacts(3_600);
  const tookMs: number[] = [];
  let exported: Promise<unknown> | undefined;
  for (let call = 0; call < 360; call += 1) {
    if (call === 90) exported = client.contacts.list({ limit: 20 }).toArray({ max: 3_600 });
    const since = clock.now();
    void client.contacts.find("nobody@example.com").then(() => tookMs.push(clock.now() - since));
    await clock.advance(160);
  }
  expect(tookMs.filter((ms) => ms > roundTripMs)).toEqual([]);
  await clock.until(exported ?? Promise.reject());
  expect(sandbox.state.counts.byStatus).not.toHaveProperty("429");
});

test("the look-up of a contact waits no longer than maxWaitMs, as every interactive call", async () => {
  const { client } = scene({ maxWaitMs: 200, limits: { requests: { max: 1, windowMs: 10_000 } } });
  void client.contacts.find("nobody@example.com");
  await expect(client.contacts.find("nobody@example.com")).rejects.toMatchObject({
    code: "rate_limited",
    attempts: 0,
  });
});

test("a batch that waits when interactive calls begin is cut to what they leave", async () => {
  const { clock, client, batches } = scene();
  const reports = [1, 2].map(() => client.events.recordBatch(events(50), { priority: "background" }));
  for (let second = 0; second < 4; second += 1) {
    await clock.advance(1_000);
    void client.events.record(anEvent());
  }
  expect(batches).toEqual([50, 42, 8]);
  expect((await Promise.all(reports)).map(({ accepted }) => accepted)).toEqual([50, 50]);
});

test("an ingestion and an import take priority and maxWaitMs, as every method does", async () => {
  const { clock, client } = scene({ limits: { requests: { max: 1, windowMs: 10_000 } } });
  await clock.until(client.contacts.find("nobody@example.com"));
  const options = { priority: "interactive", maxWaitMs: 200 } as const;
  const refused = { code: "rate_limited", limit: "requests", outcome: "not-applied" };
  await expect(client.events.ingest(events(1), options)).rejects.toMatchObject(refused);
  await expect(client.contacts.import([{ email: "a@b.example" }], options)).rejects.toMatchObject(refused);
});

test("an ingestion of interactive priority waits among interactive calls", async () => {
  const { clock, client } = scene({ limits: { requests: { max: 1, windowMs: 10_000 } } });
  await clock.until(client.contacts.find("nobody@example.com"));
  const ingestion = client.events.ingest(events(1), { priority: "interactive" });
  await clock.advance(0);
  expect(client.budgets().requests.waiting).toEqual({ interactive: 1, background: 0 });
  expect(await clock.until(ingestion)).toMatchObject({ accepted: 1 });
});
