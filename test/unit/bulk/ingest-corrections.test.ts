import { expect, test } from "vitest";
import { Ingestion } from "../../../src/bulk/ingest.ts";
import type { IngestOptions, RejectedEvent } from "../../../src/bulk/ingest-options.ts";
import type { EventInput } from "../../../src/service/events.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";
import { unusedBudgets } from "../../support/unused-budgets.ts";

const wallNow = Date.parse("2026-03-01T12:10:00.000Z");
const serviceNow = Date.parse("2026-03-01T12:00:00.000Z");

const at = (ms: number): EventInput => anEvent({ occurredAt: new Date(ms).toISOString() });

/**
 * Ingests events as one batch, and `more` as a second one, on a machine whose clock is ten minutes ahead of the service's. `answers` has the
 * results of each request; `known` says from when on the service's time is.
 */
const ingested = async (
  events: readonly EventInput[],
  answers: readonly (readonly object[])[],
  {
    known = "from the start",
    more = [],
    ...options
  }: IngestOptions<EventInput> & {
    readonly known?: "from the start" | "by the first answer" | "never";
    readonly more?: readonly EventInput[];
  } = {},
) => {
  const sent: (readonly EventInput[])[] = [];
  const rejected: RejectedEvent<EventInput>[] = [];
  const call = scriptedCall(new FakeClock(wallNow), async (_operation, payload) => {
    const { events: batch }: { events: readonly EventInput[] } = Object(payload);
    sent.push(batch);
    return { results: answers[sent.length - 1] };
  });
  const isKnown = (): boolean => known === "from the start" || (known !== "never" && sent.length > 0);
  const context = {
    call,
    budgets: unusedBudgets,
    largestBatch: () => 100,
    serviceNow: () => (isKnown() ? serviceNow : undefined),
  };
  const all = { ...options, onRejected: (one: RejectedEvent<EventInput>) => void rejected.push(one) };
  const ingestion = new Ingestion(all, context);
  for (const batch of more.length > 0 ? [events, more] : [events])
    await ingestion.work(batch.map((item, index) => ({ index, item })));
  const sentAfterMs = sent.map((batch) =>
    batch.map(({ occurredAt }) => Date.parse(String(occurredAt)) - serviceNow),
  );
  const rejectedAt = rejected.map(({ index, status }) => [index, status]);
  return { counts: ingestion.counts, sentAfterMs, rejectedAt };
};

const yes = { status: 202, outcome: "PROCESSED" };
const no = { status: 400, error: "occurredAt lies in the future" };

test("what was recorded is counted by what became of it", async () => {
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
    outcomes.map((_, place) => at(serviceNow - place)),
    [outcomes],
  );
  expect(counts).toEqual({
    ...{ accepted: 7, duplicates: 1, rejected: 0, tooOld: 2, noContact: 3 },
    // A duplicate's were counted with the first.
    runsStarted: 4,
  });
});

test("a time that the service takes is sent as it is, whatever the Date of its answers says", async () => {
  const [ahead, past] = [at(serviceNow + 60_000), at(serviceNow - 60_000)];
  const { counts, sentAfterMs } = await ingested(
    [ahead, past],
    [
      [yes, yes],
      [yes, yes],
    ],
    {
      more: [ahead, past],
    },
  );
  expect(sentAfterMs).toEqual([
    [60_000, -60_000],
    [60_000, -60_000],
  ]);
  expect(counts.accepted).toBe(4);
});

test("after a refusal a time up to a second ahead of the service's is sent as it is, and a later one as the service's", async () => {
  const { sentAfterMs } = await ingested([at(serviceNow + 2_000)], [[no], [yes], [yes, yes]], {
    more: [at(serviceNow + 1_000), at(serviceNow + 1_001)],
  });
  expect(sentAfterMs).toEqual([[2_000], [0], [1_000, 0]]);
});

test("only what was refused, and what the service's time then moves, is sent once more", async () => {
  const { counts, sentAfterMs, rejectedAt } = await ingested(
    [at(serviceNow + 1), at(serviceNow + 2), at(serviceNow - 3), at(serviceNow - 4)],
    [[no, yes, no, yes], [yes]],
    { known: "by the first answer" },
  );
  expect(sentAfterMs).toEqual([[1, 2, -3, -4], [0]]);
  expect([counts.accepted, rejectedAt]).toEqual([3, [[2, 400]]]);
});

test("what is refused a second time is a rejection", async () => {
  const { sentAfterMs, rejectedAt } = await ingested([at(serviceNow + 9)], [[no], [no]], {
    known: "by the first answer",
  });
  expect([sentAfterMs, rejectedAt]).toEqual([[[9], [0]], [[0, 400]]]);
});

test.each([
  ["the service's clock", "from the start", serviceNow],
  ["this machine's clock, where the service's is not known,", "never", wallNow],
] as const)("an event's age by %s may be maxAgeMs, and no more", async (_whose, known, now) => {
  const events = [at(now - 5_000), at(now - 5_001), anEvent({ id: "without a time" })];
  const { counts, rejectedAt } = await ingested(events, [[yes, yes]], { known, maxAgeMs: 5_000 });
  expect([counts.accepted, rejectedAt]).toEqual([2, [[1, undefined]]]);
});
