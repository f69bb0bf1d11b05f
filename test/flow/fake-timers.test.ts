import { expect, test, vi } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

test("fake timers move the back-off of a client", async () => {
  vi.useFakeTimers();
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
  vi.useRealTimers();
});

test("they end a wait of 30 s in one step, as the guide shows", async () => {
  vi.useFakeTimers();
  const sandbox = createSandbox({ apiKeys: ["key"] });
  sandbox.fail({ operation: "contacts.list", with: { status: 503, retryAfter: 30 } });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  const call = client.contacts.list().withResponse();
  await vi.advanceTimersByTimeAsync(35_000);
  expect((await call).response.attempts).toBe(2);
  vi.useRealTimers();
});
