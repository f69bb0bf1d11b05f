import { ConnectionError, TimeoutError, TouchpointError } from "../errors.ts";
import { errorFrom, type Findings } from "../http/error-from.ts";
import { AttemptFailure } from "../http/types.ts";
import { ClientClosed, DeadlineExceeded } from "../runtime/cancellation.ts";

/** The reasons that errors were made from: the end of the whole call makes them again, with what all of it has shown. */
const reasons = new WeakMap<TouchpointError, DeadlineExceeded | ClientClosed>();

const endingOf = (reason: DeadlineExceeded | ClientClosed, found: Findings): TouchpointError => {
  const { operation, attempts, outcome } = found;
  const message = `${operation}: ${reason.message}, outcome ${outcome}.`;
  const details = { operation, attempts, outcome };
  const error =
    reason instanceof DeadlineExceeded
      ? new TimeoutError(message, details)
      : new ConnectionError(message, details);
  reasons.set(error, reason);
  return error;
};

/** The error for what ended a call; a caller's own reason is returned unchanged. */
export const errorOf = (failed: unknown, found: Findings): unknown => {
  if (failed instanceof AttemptFailure && failed.kind !== "aborted") return errorFrom(failed, found);
  const told = failed instanceof AttemptFailure ? failed.cause : failed;
  const reason = told instanceof TouchpointError ? (reasons.get(told) ?? told) : told;
  if (reason instanceof DeadlineExceeded || reason instanceof ClientClosed) return endingOf(reason, found);
  // The failed request had no effect; an earlier one may have had one, and the outcome is about the whole call.
  if (reason instanceof TouchpointError && reason.outcome !== found.outcome && found.outcome === "unknown")
    Object.defineProperty(reason, "outcome", { value: found.outcome });
  return reason;
};
