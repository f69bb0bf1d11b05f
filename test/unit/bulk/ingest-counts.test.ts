import { expect, test } from "vitest";
import { Ingestion } from "../../../src/bulk/ingest.ts";
import type { IngestOptions, RejectedEvent } from "../../../src/bulk/ingest-options.ts";
import type { EventInput } from "../../../src/service/events.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");

const at = (ms: number): EventInput => anEvent({ occurredAt: new Date(ms).toISOString() });

/** Ingests events as one batch, which is answered with these results. */
const ingested = async (
  events: readonly EventInput[],
  results: readonly object[],
  options: IngestOptions<EventInput> = {},
) => {
  const rejected: RejectedEvent<EventInput>[] = [];
  const call = scriptedCall(new FakeClock(now), async () => ({ results }));
  const onRejected = (one: RejectedEvent<EventInput>) => void rejected.push(one);
  const ingestion = new Ingestion({ ...options, onRejected }, call);
  await ingestion.work(events.map((item, index) => ({ index, item })));
  return { counts: ingestion.counts, rejectedAt: rejected.map(({ index, status }) => [index, status]) };
};

const yes = { status: 202, outcome: "PROCESSED" };

test("recorded events are counted by outcome", async () => {
  const outcomes = [
    yes,
    { ...yes, outcome: "TOO_OLD" },
    { ...yes, outcome: "TOO_OLD" },
    { ...yes, outcome: "NO_CONTACT" },
    { ...yes, outcome: "NO_CONTACT" },
    { ...yes, outcome: "NO_CONTACT" },
    { ...yes, outcome: "TOO_OLD", duplicate: true, runsStarted: 9 },
    { ...yes, duplicate: false, runsStarted: 4 },
  ];
  const { counts } = await ingested(
    outcomes.map((_, place) => at(now - place)),
    outcomes,
  );
  expect(counts).toEqual({
    ...{ accepted: 7, duplicates: 1, rejected: 0, tooOld: 2, noContact: 3 },
    // A duplicate's were counted with the first.
    runsStarted: 4,
  });
});

test("an event's age may be maxAgeMs, and no more", async () => {
  const events = [at(now - 5_000), at(now - 5_001), anEvent({ id: "without a time" })];
  const { counts, rejectedAt } = await ingested(events, [yes, yes], { maxAgeMs: 5_000 });
  expect([counts.accepted, rejectedAt]).toEqual([2, [[1, undefined]]]);
});
