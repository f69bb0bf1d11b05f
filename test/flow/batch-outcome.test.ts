import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox, type Fault } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

const names = ["one", "two", "three"];

/**
 * Records three events with a fault for each request, and closes the client while it waits to repeat some of them.
 * Answers how the call ended, and what had been recorded.
 */
const closedBeforeTheRepeat = async ({
  afterMs = 100,
  faults = [],
  answer,
}: {
  afterMs?: number;
  faults?: readonly Fault[];
  answer?: object;
}) => {
  const clock = new FakeClock();
  const sandbox = createSandbox({ clock, limits: false, apiKeys: ["key"] });
  sandbox.addContact({ email: "ada@example.com" });
  const left = [...faults];
  const fetch: typeof sandbox.fetch = async (...request) => {
    const fault = left.shift();
    if (fault !== undefined) sandbox.fail({ operation: "events.recordBatch", with: fault });
    const response = await sandbox.fetch(...request);
    return answer === undefined ? response : Response.json(answer);
  };
  const client = new Client(
    { baseUrl: "https://service.test", apiKey: "key", fetch, limits: false },
    // The longest back-off.
    { clock, random: () => 1 },
  );
  const events = names.map((name) => ({ name, contact: { email: "ada@example.com" } }));
  const ended = client.events.recordBatch(events).then(
    () => undefined,
    (error: unknown) => error,
  );
  await clock.advance(afterMs);
  await client.close();
  return { error: await clock.until(ended), recorded: sandbox.state.events.map(({ name }) => name) };
};

test("a close before the repeat leaves recorded events unknown when the response had no results", async () => {
  const ended = await closedBeforeTheRepeat({ answer: { results: [] } });
  expect(ended).toMatchObject({ error: { code: "connection_failed", outcome: "unknown" }, recorded: names });
});

test("events of which all but one were recorded: a close before the repeat leaves it unknown", async () => {
  const ended = await closedBeforeTheRepeat({ faults: [{ items: [1], status: 500 }] });
  const recorded = ["one", "three"];
  expect(ended).toMatchObject({ error: { code: "connection_failed", outcome: "unknown" }, recorded });
});

test("a close before the repeat leaves recorded events unknown when an earlier response was lost", async () => {
  const faults = [
    { status: 500, applied: true },
    { items: [0, 1, 2], status: 429 },
  ];
  const ended = await closedBeforeTheRepeat({ faults });
  expect(ended).toMatchObject({ error: { code: "connection_failed", outcome: "unknown" }, recorded: names });
});

test("a close leaves a batch unknown when an earlier round recorded some of its events", async () => {
  const faults = [
    { items: [1], status: 429 },
    { items: [0], status: 429 },
  ];
  const ended = await closedBeforeTheRepeat({ faults, afterMs: 700 });
  const recorded = ["one", "three"];
  expect(ended).toMatchObject({ error: { code: "connection_failed", outcome: "unknown" }, recorded });
});

test("events that the service refused, or will take later: a close before the repeat says so", async () => {
  const answer = { results: [404, 429, 429].map((status) => ({ status, error: "no" })) };
  const ended = await closedBeforeTheRepeat({ answer });
  expect(ended).toMatchObject({ error: { code: "connection_failed", outcome: "not-applied" } });
});

test("events of which the service took none: a close before the repeat says so", async () => {
  const ended = await closedBeforeTheRepeat({ faults: [{ items: [0, 1, 2], status: 429 }] });
  expect(ended).toMatchObject({ error: { code: "connection_failed", outcome: "not-applied" }, recorded: [] });
});
