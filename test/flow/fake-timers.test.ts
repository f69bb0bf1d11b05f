import { mock } from "node:test";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("fake timers move the back-off of a client", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  sandbox.fail({ operation: "contacts.list", times: 2, with: { status: 503 } });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  let page: unknown;
  void client.contacts.list().then((p) => {
    page = p;
  });
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(1_000);
    expect(page).toBeDefined();
  });
});

test("they end a wait of 30 s in one step, as the guide shows", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"] });
  sandbox.fail({ operation: "contacts.list", with: { status: 503, retryAfter: 30 } });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  const call = client.contacts.list().withResponse();
  await vi.advanceTimersByTimeAsync(35_000);
  expect((await call).response.attempts).toBe(2);
});

test("the mock timers of node:test, which leave performance.now, end it with the clock that the guide adds", async () => {
  vi.useRealTimers();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const { mock: now } = mock.method(performance, "now", () => Date.now());
  onTestFinished(() => {
    now.restore();
    mock.timers.reset();
  });
  const sandbox = createSandbox({ apiKeys: ["key"] });
  sandbox.fail({ operation: "contacts.list", with: { status: 503, retryAfter: 30 } });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  let attempts = 0;
  void client.contacts
    .list()
    .withResponse()
    .then(({ response }) => {
      attempts = response.attempts;
    });
  for (let second = 0; second < 35; second += 1) {
    for (const _turn of [1, 2]) await new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(1_000);
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(attempts).toBe(2);
});

const events = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    name: "page.viewed",
    contact: { email: "ada@example.com" },
    properties: { n },
  }));

/** A client without limits, and an ingestion in twenty batches. */
const ingestion = (onOutcome?: () => void) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
  });
  return client.events.ingest(events(200), { batchSize: 10, onOutcome });
};

test("they do not delay the batches of an ingestion", async () => {
  expect(await ingestion()).toMatchObject({ accepted: 200 });
});

test("a wall clock that is set back does not delay the batches either", async () => {
  const setBack = (): unknown => vi.setSystemTime(Date.now() - 3_600_000);
  expect(await ingestion(setBack)).toMatchObject({ accepted: 200 });
});
