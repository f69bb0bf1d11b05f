import { expect, test } from "vitest";
import { Client, type RejectedEvent } from "../../src/index.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const scene = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const options = {
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
  } as const;
  return { sandbox, client: new Client(options) };
};

const eventAt = (ms: number, n = 0) => ({
  name: "order.placed",
  contact: { email: `p${n}@example.com` },
  occurredAt: new Date(ms),
});

test("a time in the future is rejected by the service", async () => {
  const { client } = scene();
  const rejected: RejectedEvent[] = [];
  const source = [eventAt(Date.now() + 3_600_000)];
  const report = await client.events.ingest(source, { onRejected: (event) => void rejected.push(event) });
  expect(report).toMatchObject({ accepted: 0, rejected: 1 });
  expect(rejected[0]?.status).toBe(400);
});

test("with maxAgeMs, older events are put aside before they are sent", async () => {
  const { sandbox, client } = scene();
  const hour = 3_600_000;
  const source = [eventAt(Date.now() - 73 * hour, 1), eventAt(Date.now() - 71 * hour, 2)];
  const rejected: RejectedEvent[] = [];
  const report = await client.events.ingest(source, {
    maxAgeMs: 72 * hour,
    onRejected: (event) => void rejected.push(event),
  });
  expect(report).toMatchObject({ accepted: 1, rejected: 1, tooOld: 0 });
  expect(rejected.map(({ index, status }) => ({ index, status }))).toEqual([{ index: 0, status: undefined }]);
  expect(sandbox.state.events).toHaveLength(1);
});

test("events that keep failing for a temporary reason end the run, and none is rejected", async () => {
  const { sandbox, client } = scene();
  sandbox.fail({
    operation: "events.recordBatch",
    times: Number.POSITIVE_INFINITY,
    with: { items: [0, 1], status: 500 },
  });
  const clock = { ...systemClock, sleep: async () => undefined };
  const impatient = new Client(
    { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false },
    { clock },
  );
  const source = [eventAt(Date.now() - 1_000, 1), eventAt(Date.now() - 1_000, 2)];
  await expect(impatient.events.ingest(source)).rejects.toMatchObject({
    status: 500,
    outcome: "unknown",
    partial: { report: { unknown: 2, rejected: 0 } },
  });
  await client.close();
});
