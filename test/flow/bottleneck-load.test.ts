import { expect, test, vi } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const loads = vi.hoisted(() => ({ count: 0 }));

vi.mock("bottleneck/light.js", async (original) => {
  loads.count += 1;
  return original();
});

const events = (count: number) =>
  Array.from({ length: count }, () => ({ name: "page.viewed", contact: { email: "ada@example.com" } }));
const addresses = Array.from({ length: 1_000 }, (_, n) => `p${n}@example.com`);

test("bottleneck loads with a second batch, and with no call that is one request", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
  });
  const list = await client.lists.create({ name: "News" });
  await client.lists.addContacts(list.id, addresses);
  await client.events.recordBatch(events(100));
  await client.events.recorder().record(events(1)[0] ?? expect.unreachable());
  await client.events.ingest(events(100));
  expect(loads.count).toBe(0);
  await client.events.ingest(events(101));
  expect(loads.count).toBe(1);
});
