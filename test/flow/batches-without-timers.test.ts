import { afterEach, expect, test, vi } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

afterEach(() => void vi.useRealTimers());

test("many batches wait neither for a test's fake timers nor for a wall clock that is set back", async () => {
  const { fetch } = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  const events = Array.from({ length: 200 }, (_, n) => ({
    name: "page.viewed",
    contact: { email: "ada@example.com" },
    properties: { n },
  }));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  const ingestion = client.events.ingest(events, { batchSize: 10 });
  vi.setSystemTime(Date.now() - 3_600_000);
  expect((await ingestion).accepted).toBe(200);
});
