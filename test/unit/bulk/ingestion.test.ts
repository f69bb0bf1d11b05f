import { expect, test } from "vitest";
import { Ingestion } from "../../../src/bulk/ingestion.ts";
import type { EventInput } from "../../../src/service/events.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

/** Ingests events as one batch; `results` has the result of each. */
const ingested = async (events: readonly EventInput[], results: readonly object[]) => {
  const call = scriptedCall(new FakeClock(), async () => ({ results }));
  const ingestion = new Ingestion({}, call);
  await ingestion.work(events.map((item, index) => ({ index, item })));
  return { counts: ingestion.counts };
};

const yes = { status: 202, outcome: "PROCESSED" };

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
    outcomes.map((_, at) => anEvent({ properties: { at } })),
    outcomes,
  );
  expect(counts).toEqual({
    ...{ accepted: 7, duplicates: 1, rejected: 0, tooOld: 2, noContact: 3 },
    // A duplicate's were counted with the first.
    runsStarted: 4,
  });
});
