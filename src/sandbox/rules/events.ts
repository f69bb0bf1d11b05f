import { Refusal, type Reply } from "../answer.ts";
import { isArray } from "../json.ts";
import type { EventRecord, EventResponse } from "../store/records.ts";
import { asDuplicate, timestamp, type Workspace } from "../store/workspace.ts";
import { isTooOld, type RunCounts, runAutomations } from "./automations.ts";
import { bodyFields, type Call } from "./call.ts";
import { type EventDraft, readEvent } from "./event-checks.ts";
import { settlePerson } from "./event-person.ts";

const noRuns = { runsStarted: 0, runsExited: 0, runsResumed: 0, runsConverted: 0 } as const;

const outcomeOf = (
  event: EventDraft,
  workspace: Workspace,
  hasContact: boolean,
): EventResponse["outcome"] => {
  if (!hasContact) return "NO_CONTACT";
  return isTooOld(event, workspace.services.clock.wallTime(), workspace) ? "TOO_OLD" : "PROCESSED";
};

const record = (workspace: Workspace, event: EventDraft): EventResponse => {
  const now = workspace.services.clock.wallTime();
  const { contact, created } = settlePerson(event, workspace);
  const runs: RunCounts =
    contact === undefined
      ? { ...noRuns, note: "Nobody matched, and no contact was created." }
      : runAutomations(event, contact.id, workspace, now);
  const answer: EventResponse = {
    id: workspace.services.newId("ev"),
    name: event.name,
    ...(contact === undefined ? {} : { contactId: contact.id }),
    outcome: outcomeOf(event, workspace, contact !== undefined),
    createdContact: created,
    ...runs,
  };
  const entry: EventRecord = {
    id: answer.id,
    ...(event.id === undefined ? {} : { callerId: event.id }),
    name: event.name,
    ...(contact === undefined ? {} : { contactId: contact.id }),
    properties: event.properties,
    occurredAt: new Date(event.occurredAt).toISOString(),
    recordedAt: timestamp(workspace),
    repeats: 0,
    response: answer,
  };
  workspace.events.push(entry);
  workspace.services.changed();
  if (event.id !== undefined) workspace.eventsById.set(event.id, entry);
  return answer;
};

/** Records one event, or repeats the first answer if its id is known. @throws Refusal 400, 404, 409 */
const recordOrRepeat = (workspace: Workspace, value: unknown): EventResponse => {
  const event = readEvent(value, workspace.services.clock.wallTime());
  const first = event.id === undefined ? undefined : workspace.eventsById.get(event.id);
  if (first === undefined) return record(workspace, event);
  first.repeats += 1;
  return asDuplicate(first);
};

/** Records a single event: 202. */
export const recordEvent = (call: Call): Reply => ({
  status: 202,
  body: recordOrRepeat(call.workspace, bodyFields(call)),
});

const recordItem = (call: Call, value: unknown, index: number): object => {
  const failed = call.failedItem(index);
  if (failed !== undefined) return failed;
  try {
    const { id, name, outcome, runsStarted, duplicate } = recordOrRepeat(call.workspace, value);
    return { status: 202, id, name, outcome, runsStarted, ...(duplicate === undefined ? {} : { duplicate }) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, error: error.message };
  }
};

/** Records 1 to 100 events, each on its own: 207. */
export const recordBatch = (call: Call): Reply => {
  const { events } = bodyFields(call);
  if (!isArray(events)) throw new Refusal(400, "events must be an array.");
  if (events.length < 1 || events.length > 100) {
    throw new Refusal(400, `events must contain 1 to 100 events, got ${events.length}.`);
  }
  const results = events.map((event, index) => recordItem(call, event, index));
  const accepted = results.filter((result) => "outcome" in result).length;
  return { status: 207, body: { accepted, rejected: results.length - accepted, results } };
};
