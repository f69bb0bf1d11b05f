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

test("a client without retries repeats no single event either", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  let requests = 0;
  const fetch = async (): Promise<Response> => {
    requests += 1;
    return Response.json({ accepted: 0, rejected: 0, results: [] }, { status: 207 });
  };
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch,
    limits: false,
    maxRetries: 0,
  });
  const event = { name: "page.viewed", contact: { email: "ada@example.com" } };
  const { results } = await client.events.recordBatch([event]);
  await client.events.ingest([event]).catch(() => undefined);
  await using recorder = client.events.recorder({ maxDelayMs: 1 });
  await recorder.record(event).catch(() => undefined);
  expect([results[0]?.status, requests, sandbox.state.events.length]).toEqual([0, 3, 0]);
});

test("a misspelt id is refused before the event gets a random one", async () => {
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: async () => new Response(),
  });
  const event = { name: "page.viewed", contact: { email: "ada@example.com" }, ID: "order-7" };
  await expect(client.events.record(event)).rejects.toMatchObject({
    code: "input_invalid",
    message: 'events.record: ID: there is no such field (did you mean "id"?)',
  });
});
