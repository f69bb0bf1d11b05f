import type { FaultCase, Says, Times } from "./fault-case.ts";
import type { Subject } from "./subjects.ts";

/** What one cell came to. */
export interface Finding {
  /** `an answer`, or the class of the error. */
  readonly told: string;
  /** What the error says of the effect. */
  readonly outcome: "not-applied" | "unknown" | undefined;
  /** That the service received. */
  readonly requests: number;
  /** How often the effect happened. */
  readonly effects: number;
}

/** Attempts after the first, in every cell. */
export const maxRetries = 2;

/** A batch asks this often, in all, for what its answer leaves open. */
const batchRounds = 5;

/** What this operation learns of the fault: some faults do not touch some operations. */
const heard = (subject: Subject, fault: FaultCase): Says => {
  if (fault.isInBody && subject.hasNoBody) return "an answer";
  if (fault.isEmpty && subject.mayBeEmpty) return "an answer";
  // A batch without results cannot be told event by event.
  if (fault.isShapeless && subject.operation === "events.recordBatch") return "unclear for good";
  return fault.says;
};

const errorOf = (fault: FaultCase): string =>
  fault.isShapeless ? "ResponseValidationError" : (fault.error ?? "");

/** The contract's table as a function: what must come of an operation under a fault. */
export const expected = (subject: Subject, fault: FaultCase, times: Times): Finding => {
  const { replay, size = 1 } = subject;
  const effect = replay === "read" ? 0 : size;
  const says = heard(subject, fault);
  // Only a repeat tells that it is done: what was cancelled is not found any more.
  if (fault.isCut && subject.hasNoBody)
    return { told: "an answer", outcome: undefined, requests: 2, effects: 1 };
  const isRepeated =
    !fault.isTooLong &&
    (says === "nothing left" || says === "refused" || (says === "unclear" && replay !== "never"));
  // The contract: a batch sends the failed items once more by itself.
  const isAskedAgain = fault.isSilent && subject.operation === "events.recordBatch";
  const again = isAskedAgain ? (times === "once" ? 1 : batchRounds - 1) : fault.only === undefined ? 0 : 1;
  if (says === "an answer")
    return { told: "an answer", outcome: undefined, requests: 1 + again, effects: effect };
  // What reached nobody was received by nobody.
  const received = says === "nothing left" || fault.isUnread ? 0 : 1;
  if (isRepeated && times === "once") {
    return { told: "an answer", outcome: undefined, requests: received + 1, effects: effect };
  }
  const isKnown = says === "nothing left" || says === "refused" || replay === "read";
  return {
    told: errorOf(fault),
    outcome: isKnown ? "not-applied" : "unknown",
    requests: received * (isRepeated ? 1 + maxRetries : 1),
    effects: fault.applies ? effect : 0,
  };
};
