import { ConnectionError, type Outcome, TimeoutError, TouchpointError } from "../errors.ts";
import { errorFrom, type Findings } from "../http/error-from.ts";
import { AttemptFailure } from "../http/types.ts";
import { ClientClosed, DeadlineExceeded } from "../runtime/cancellation.ts";

type Ending = DeadlineExceeded | ClientClosed;

const isEnding = (reason: unknown): reason is Ending =>
  reason instanceof DeadlineExceeded || reason instanceof ClientClosed;

const endingOf = (cause: Ending, { operation, attempts, outcome }: Findings): TouchpointError => {
  const Class = cause instanceof DeadlineExceeded ? TimeoutError : ConnectionError;
  const message = `${operation}: ${cause.message}, outcome ${outcome}.`;
  return new Class(message, { operation, attempts, outcome, cause });
};

/** The error of a request again, for the whole call: it was refused, but an earlier request may have had an effect. */
const withOutcome = (error: TouchpointError, outcome: Outcome): TouchpointError => {
  // Every class of errors takes its own fields as details.
  const Class = error.constructor as new (message: string, details: object) => TouchpointError;
  const made = new Class(error.message, { ...error, cause: error.cause, outcome });
  made.partial = error.partial;
  if (error.stack !== undefined) made.stack = error.stack;
  return made;
};

/** The error for what ended a call; a caller's own reason is returned unchanged. */
export const errorOf = (failed: unknown, found: Findings): unknown => {
  if (failed instanceof AttemptFailure && failed.kind !== "aborted") return errorFrom(failed, found);
  const told = failed instanceof AttemptFailure ? failed.cause : failed;
  // The end of a request was that of the whole call: its error names that, and what all of it has shown.
  const reason = told instanceof TouchpointError && isEnding(told.cause) ? told.cause : told;
  if (isEnding(reason)) return endingOf(reason, found);
  const isLess = reason instanceof TouchpointError && reason.outcome !== found.outcome;
  return isLess && found.outcome === "unknown" ? withOutcome(reason, found.outcome) : reason;
};
