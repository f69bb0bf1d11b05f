import type { FaultCase, Says, Times } from "./fault-case.ts";
import type { Subject } from "./subjects.ts";

/** What one cell came to. */
export interface Finding {
  /** `a response`, or the class of the error. */
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

/** A batch asks this often, in all, for what its answer leaves open: its repeats count as attempts do. */
const batchRounds = 1 + maxRetries;

/** What this operation learns of the fault: some faults do not touch some operations. */
const heard = (subject: Subject, fault: FaultCase): Says => {
  if (fault.isInBody && subject.hasNoBody) return "a response";
  if (fault.isEmpty && subject.mayBeEmpty) return "a response";
  return fault.says;
};

/** What a batch comes to when events of it fail: those are sent again, and again, and told of in the end. */
const failing = (size: number, count: number, times: Times): Finding => ({
  told: times === "once" ? "a response" : `a response, ${count} reported as rejected`,
  outcome: undefined,
  requests: times === "once" ? 2 : batchRounds,
  effects: times === "once" ? size : size - count,
});

/** What a batch comes to when its answer does not say what became of the events: under their ids it may ask again. */
const unsaid = (size: number, times: Times): Finding => ({
  told: times === "once" ? "a response" : `a response, ${size} reported as unknown`,
  outcome: undefined,
  requests: times === "once" ? 2 : batchRounds,
  effects: size,
});

/** The contract's table as a function: what must come of an operation under a fault. */
export const expected = (subject: Subject, fault: FaultCase, times: Times): Finding => {
  const { replay, size = 1 } = subject;
  const effect = replay === "read" ? 0 : size;
  if (fault.failing !== undefined) return failing(size, fault.failing, times);
  // It came whole, so the same would come again: told, and not asked for twice.
  if (fault.misfits?.(subject)) {
    const outcome = replay === "read" ? "not-applied" : "unknown";
    return { told: "ResponseValidationError", outcome, requests: 1, effects: effect };
  }
  const says = heard(subject, fault);
  // Only a repeat tells that it is done: what was cancelled is not found any more.
  if (fault.isCut && subject.hasNoBody)
    return { told: "a response", outcome: undefined, requests: 2, effects: 1 };
  const isRepeated =
    !fault.isTooLong &&
    (says === "nothing left" || says === "refused" || (says === "unclear" && replay !== "never"));
  if (fault.isSilent) return unsaid(size, times);
  if (says === "a response") return { told: "a response", outcome: undefined, requests: 1, effects: effect };
  // What reached nobody was received by nobody.
  const received = says === "nothing left" || fault.isUnread ? 0 : 1;
  if (isRepeated && times === "once") {
    return { told: "a response", outcome: undefined, requests: received + 1, effects: effect };
  }
  const isKnown = says === "nothing left" || says === "refused" || replay === "read";
  return {
    told: fault.error ?? "",
    outcome: isKnown ? "not-applied" : "unknown",
    requests: received * (isRepeated ? 1 + maxRetries : 1),
    effects: fault.applies ? effect : 0,
  };
};
