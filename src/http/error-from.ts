import {
  ApiError,
  type ApiErrorDetails,
  AuthenticationError,
  BadGatewayError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  InternalServerError,
  MailAccountError,
  NotFoundError,
  type Outcome,
  PermissionDeniedError,
  RateLimitError,
  ResponseValidationError,
  ServiceUnavailableError,
  TimeoutError,
  TouchpointError,
} from "../errors.ts";
import { ClientClosed, DeadlineExceeded } from "../runtime/cancellation.ts";
import { toHeaders } from "../runtime/headers.ts";
import type { ReplayClass } from "../service/define.ts";
import { hintOf } from "./hints.ts";
import type { HttpResponse } from "./message.ts";
import { isMailAccountRefusal } from "./retry-policy.ts";
import { AttemptFailure, type FailureNotes, type Progress } from "./types.ts";

/** What the whole call has shown, not only its last attempt. */
export interface Findings extends Progress, FailureNotes {
  readonly replay: ReplayClass;
  /** Whether the operation belongs to emails. */
  readonly isEmail: boolean;
}

const plain: Readonly<Record<number, new (message: string, details: ApiErrorDetails) => ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  500: InternalServerError,
  502: BadGatewayError,
};

// The service documents { error: string }. Frameworks often nest or rename it; a hostile body may be nested endlessly.
const deepestSentence = 8;

/** The sentence of an error body; undefined without one. */
export const sentenceOf = (body: unknown, depth = 0): string | undefined => {
  if (typeof body !== "object" || body === null || depth > deepestSentence) return undefined;
  const { error, message }: { error?: unknown; message?: unknown } = body;
  if (typeof error === "string" && error !== "") return error;
  return typeof message === "string" && message !== "" ? message : sentenceOf(error, depth + 1);
};

const statusError = (failure: AttemptFailure, response: HttpResponse, found: Findings) => {
  const { status } = response;
  const sentence =
    sentenceOf(response.json) ?? `${found.operation}: the service responded with ${status} without a reason`;
  const message = found.note === undefined ? sentence : `${sentence} (${found.note})`;
  const details = {
    operation: found.operation,
    attempts: found.attempts,
    outcome: found.outcome,
    status,
    headers: toHeaders(response.headers),
    body: response.isJson ? response.json : response.text,
    retryAfterMs: found.retryAfterMs,
    hint: hintOf(failure, found.operation),
  };
  if (status === 429) return new RateLimitError(message, details);
  if (status === 503) return new ServiceUnavailableError(message, details);
  if (isMailAccountRefusal(found, failure)) return new MailAccountError(message, details);
  const Class = plain[status] ?? ApiError;
  return new Class(message, details);
};

const advice = ({ replay, outcome }: Findings): string => {
  if (replay === "safe") return "Nothing was changed.";
  if (outcome === "not-applied") return "Nothing was applied.";
  return replay === "never"
    ? "It may have been applied: check before sending it again."
    : "It may have been applied; repeating it does no harm.";
};

const failedAttempt = (failure: AttemptFailure, found: Findings): TouchpointError => {
  if (failure.kind === "status" && failure.response !== undefined) {
    return statusError(failure, failure.response, found);
  }
  const details = {
    operation: found.operation,
    attempts: found.attempts,
    outcome: found.outcome,
    cause: failure.cause,
    hint: hintOf(failure, found.operation),
  };
  const start = failure.wasSent ? "sent, no usable response" : "not sent";
  const message = `${found.operation}: ${start} (${failure.message}). ${advice(found)}${found.note === undefined ? "" : ` ${found.note}`}`;
  if (failure.kind === "timeout") return new TimeoutError(message, details);
  if (failure.kind === "broken" || failure.kind === "empty" || failure.kind === "too-large") {
    return new ResponseValidationError(message, { ...details, status: failure.response?.status ?? 200 });
  }
  return new ConnectionError(message, details);
};

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
export const errorFrom = (failed: unknown, found: Findings): unknown => {
  if (failed instanceof AttemptFailure && failed.kind !== "aborted") return failedAttempt(failed, found);
  const told = failed instanceof AttemptFailure ? failed.cause : failed;
  // The end of a request was that of the whole call: its error names that, and what all of it has shown.
  const reason = told instanceof TouchpointError && isEnding(told.cause) ? told.cause : told;
  if (isEnding(reason)) return endingOf(reason, found);
  const isLess = reason instanceof TouchpointError && reason.outcome !== found.outcome;
  return isLess && found.outcome === "unknown" ? withOutcome(reason, found.outcome) : reason;
};
