import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const options = { apiKey: "key", baseUrl: "http://localhost", limits: false } as const;
const email = "ada@example.com";

test("an event keeps its time where both clocks agree, although Date tells whole seconds only", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ ...options, fetch: sandbox.fetch });
  await client.contacts.list();
  const occurredAt = new Date(Date.now() - 1).toISOString();
  await client.events.ingest([{ name: "seen", contact: { email }, occurredAt }]);
  expect(sandbox.state.requests.at(-1)?.body).toMatchObject({ events: [{ occurredAt }] });
});

test("a recorder sends each event as it was when it was given", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ ...options, fetch: sandbox.fetch });
  const recorder = client.events.recorder();
  const event = { name: "seen", contact: { email }, properties: { n: 0 } };
  const results = [0, 1, 2].map((n) => {
    event.properties.n = n;
    return recorder.record(event);
  });
  await recorder.close();
  await Promise.all(results);
  expect(sandbox.state.requests.at(-1)?.body).toMatchObject({
    events: [{ properties: { n: 0 } }, { properties: { n: 1 } }, { properties: { n: 2 } }],
  });
});

test.each([{ error: { code: "CLASH" } }, { errors: ["x"] }, { ok: false }])(
  "a batch item that failed as %j is not taken for recorded, although it echoes its id",
  async (sign) => {
    const fetch = async () => Response.json({ results: [{ id: "e1", ...sign }] }, { status: 207 });
    const client = new Client({ ...options, fetch });
    const report = await client.events.recordBatch([{ id: "e1", name: "seen", contact: { email } }]);
    expect(report).toMatchObject({ accepted: 0, rejected: 1 });
  },
);
