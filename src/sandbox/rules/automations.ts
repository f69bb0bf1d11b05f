import type { AutomationRun } from "../store/automation-run.ts";
import type { Workspace } from "../store/workspace.ts";
import type { EventDraft } from "./event-checks.ts";

/** What an event did to automation runs. */
export interface RunCounts {
  readonly runsStarted: number;
  readonly runsExited: number;
  readonly runsResumed: number;
  readonly runsConverted: number;
  readonly note: string | null;
}

const hour = 3_600_000;
const plainAgeMs = 72 * hour;
const transactionalAgeMs = 7 * 24 * hour;

/** Whether an event is too old to start anything. */
export const isTooOld = (event: EventDraft, now: number, workspace: Workspace): boolean => {
  const age = now - event.occurredAt;
  if (age <= plainAgeMs) return false;
  return !(
    age <= transactionalAgeMs &&
    workspace.runs.some(({ automation }) => automation.transactional && automation.startsOn === event.name)
  );
};

const correlationOf = (event: EventDraft, { automation }: AutomationRun): unknown =>
  automation.correlateBy === undefined ? undefined : event.properties[automation.correlateBy];

type Step = "started" | "exited" | "resumed" | "converted" | "already" | undefined;

const oldest = ({ automation }: AutomationRun): number =>
  automation.transactional ? transactionalAgeMs : plainAgeMs;

const stepInside = (event: EventDraft, run: AutomationRun, contactId: string): Step => {
  const { automation, active } = run;
  const current = active.get(contactId);
  if (current === undefined || current.correlation !== correlationOf(event, run)) return undefined;
  if (automation.goalOn === event.name || automation.exitsOn === event.name) {
    active.delete(contactId);
    return automation.goalOn === event.name ? "converted" : "exited";
  }
  if (automation.waitsFor !== event.name || !current.isWaiting) return undefined;
  current.isWaiting = false;
  // No other event can end this run, so it ends now.
  if (automation.goalOn === undefined && automation.exitsOn === undefined) active.delete(contactId);
  return "resumed";
};

const stepIn = (event: EventDraft, run: AutomationRun, contactId: string, age: number): Step => {
  const { automation, active } = run;
  if (automation.startsOn !== event.name || age > oldest(run)) return undefined;
  if (active.has(contactId)) return "already";
  const { waitsFor, exitsOn, goalOn } = automation;
  if ([waitsFor, exitsOn, goalOn].some((name) => name !== undefined)) {
    active.set(contactId, { isWaiting: waitsFor !== undefined, correlation: correlationOf(event, run) });
  }
  return "started";
};

/** Moves the person through the workspace's automations. */
export const runAutomations = (
  event: EventDraft,
  contactId: string,
  workspace: Workspace,
  now: number,
): RunCounts => {
  const age = now - event.occurredAt;
  const isOld = isTooOld(event, now, workspace);
  const steps = workspace.runs.map((run) => ({
    name: run.automation.name,
    step: stepInside(event, run, contactId) ?? stepIn(event, run, contactId, age),
  }));
  const count = (wanted: Step) => steps.filter(({ step }) => step === wanted).length;
  const already = steps.find(({ step }) => step === "already");
  const note = isOld
    ? "The event is too old to start anything."
    : already && `The person is already in a run of ${already.name}.`;
  return {
    runsStarted: count("started"),
    // Reaching the goal also stops the run.
    runsExited: count("exited") + count("converted"),
    runsResumed: count("resumed"),
    runsConverted: count("converted"),
    note: note ?? null,
  };
};
