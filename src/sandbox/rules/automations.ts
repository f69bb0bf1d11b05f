import type { Fields } from "../json.ts";
import type { EventResponse } from "../store/records.ts";
import type { AutomationRun, Workspace } from "../store/workspace.ts";

/** The part of an event that automations see. */
interface Trigger {
  readonly name: string;
  readonly properties: Fields;
  /** Milliseconds since 1970. */
  readonly occurredAt: number;
}

type RunResult = Omit<EventResponse, "id" | "name" | "contactId" | "duplicate" | "createdContact">;

const hour = 3_600_000;
const oldest = ({ automation }: AutomationRun): number => (automation.transactional ? 7 * 24 : 72) * hour;

const correlationOf = ({ properties }: Trigger, { automation: { correlateBy } }: AutomationRun): unknown =>
  correlateBy === undefined ? undefined : properties[correlateBy];

type Step = "started" | "exited" | "resumed" | "converted" | "already" | undefined;

const stepInside = (event: Trigger, run: AutomationRun, contactId: string): Step => {
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

const stepIn = (event: Trigger, run: AutomationRun, contactId: string, age: number): Step => {
  const { automation, active } = run;
  if (automation.startsOn !== event.name || age > oldest(run)) return undefined;
  if (active.has(contactId)) return "already";
  const { waitsFor, exitsOn, goalOn } = automation;
  if ([waitsFor, exitsOn, goalOn].some((name) => name !== undefined)) {
    active.set(contactId, { isWaiting: waitsFor !== undefined, correlation: correlationOf(event, run) });
  }
  return "started";
};

/** Moves the person, if there is one, through the workspace's automations. */
export const runAutomations = (
  event: Trigger,
  contactId: string | undefined,
  { runs, services }: Workspace,
): RunResult => {
  const age = services.clock.wallTime() - event.occurredAt;
  const isTooOld =
    age > 72 * hour &&
    !runs.some(
      (run) => run.automation.transactional && run.automation.startsOn === event.name && age <= oldest(run),
    );
  const steps =
    contactId === undefined
      ? []
      : runs.map((run) => ({
          name: run.automation.name,
          step: stepInside(event, run, contactId) ?? stepIn(event, run, contactId, age),
        }));
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
  const already = steps.find(({ step }) => step === "already");
  const note = already === undefined ? null : `The person is already in a run of ${already.name}.`;
  return { ...result, outcome: "PROCESSED", note };
};
