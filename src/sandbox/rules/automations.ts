import type { AutomationOptions } from "../options.ts";
import type { EventRecord, EventResponse } from "../store/records.ts";
import type { AutomationRun, Workspace } from "../store/workspace.ts";

/** `occurredAt` is in milliseconds since 1970. */
type Trigger = Pick<EventRecord, "name" | "properties"> & { readonly occurredAt: number };

type RunResult = Omit<EventResponse, "id" | "name" | "contactId" | "duplicate" | "createdContact">;

const hour = 3_600_000;
const maxAge = ({ transactional }: AutomationOptions): number => (transactional ? 7 * 24 : 72) * hour;

type Step = "started" | "exited" | "resumed" | "converted" | "already" | undefined;

const stepIn = (
  { automation, active }: AutomationRun,
  event: Trigger,
  contactId: string,
  age: number,
): Step => {
  const { startsOn, waitsFor, exitsOn, goalOn, correlateBy } = automation;
  const correlation = correlateBy === undefined ? undefined : event.properties[correlateBy];
  const current = active.get(contactId);
  const isYoung = age <= maxAge(automation);
  if (current !== undefined && current.correlation === correlation) {
    if (goalOn === event.name || exitsOn === event.name) {
      active.delete(contactId);
      return goalOn === event.name ? "converted" : "exited";
    }
    if (waitsFor === event.name && current.isWaiting && isYoung) {
      current.isWaiting = false;
      // No other event can end this run, so it ends now.
      if (goalOn === undefined && exitsOn === undefined) active.delete(contactId);
      return "resumed";
    }
  }
  if (startsOn !== event.name || !isYoung) return undefined;
  if (current !== undefined) return "already";
  if ((waitsFor ?? exitsOn ?? goalOn) !== undefined)
    active.set(contactId, { isWaiting: waitsFor !== undefined, correlation });
  return "started";
};

/** Runs the workspace's automations for the contact of an event, if the event has one. */
export const runAutomations = (
  event: Trigger,
  contactId: string | undefined,
  { runs, services }: Workspace,
): RunResult => {
  const age = services.clock.wallTime() - event.occurredAt;
  const affected = runs
    .map(({ automation }) => automation)
    .filter(({ startsOn, waitsFor }) => startsOn === event.name || waitsFor === event.name);
  const isTooOld = age > Math.max(72 * hour, ...affected.map(maxAge));
  const steps =
    contactId === undefined ? [] : runs.map((run) => ({ run, step: stepIn(run, event, contactId, age) }));
  const count = (wanted: Step) => steps.filter(({ step }) => step === wanted).length;
  const result = {
    runsStarted: count("started"),
    // Reaching the goal also stops the run.
    runsExited: count("exited") + count("converted"),
    runsResumed: count("resumed"),
    runsConverted: count("converted"),
  };
  if (contactId === undefined)
    return { ...result, outcome: "NO_CONTACT", note: "Nobody matched, and no contact was created." };
  if (isTooOld) return { ...result, outcome: "TOO_OLD", note: "The event is too old to start anything." };
  const already = steps.find(({ step }) => step === "already")?.run.automation.name;
  // The note is set only if nothing started because the person is already in a run.
  const needsNoNote = result.runsStarted > 0 || already === undefined;
  const note = needsNoNote ? null : `The person is already in a run of ${already}.`;
  return { ...result, outcome: "PROCESSED", note };
};
