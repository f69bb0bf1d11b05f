import {
  ApiError,
  type ApiErrorDetails,
  AuthenticationError,
  BadGatewayError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  type ErrorDetails,
  GatewayTimeoutError,
  InternalServerError,
  MailAccountError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ResponseValidationError,
  ServiceUnavailableError,
  TimeoutError,
  TouchpointError,
} from "../errors.ts";
import { ClientClosed, DeadlineExceeded } from "../runtime/cancellation.ts";
import { toHeaders } from "../runtime/headers.ts";
import { answererOf } from "./answerer.ts";
import { clockHint, hintOf, onceHint, operationsWithTimes, pauseHint } from "./hints.ts";
import type { HttpResponse } from "./message.ts";
import { documentedSentence, isMailAccountRefusal, mayHaveTakenEffect } from "./retry-policy.ts";
import { AttemptFailure, type FailureNotes, type Progress, type Sending } from "./types.ts";

/** What the error for a failed attempt contains besides the failure. */
interface FailureFacts extends FailureNotes {
  readonly sending: Sending;
  /** The time on this machine's clock, in milliseconds since 1970. */
  readonly wallTime: number;
}

const classByStatus: Readonly<Record<number, new (message: string, details: ApiErrorDetails) => ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  500: InternalServerError,
  502: BadGatewayError,
  504: GatewayTimeoutError,
};

// The service documents { error: string }. Frameworks often nest or rename the field. The limit stops the search in a
// hostile body, which may be nested to any depth.
const maxDepth = 8;

/** The error message in a body; undefined if there is none. */
export const sentenceOf = (body: unknown, depth = 0): string | undefined => {
  if (typeof body !== "object" || body === null || depth > maxDepth) return undefined;
  const { error, message }: { error?: unknown; message?: unknown } = body;
  if (typeof error === "string" && error !== "") return error;
  return typeof message === "string" && message !== "" ? message : sentenceOf(error, depth + 1);
};

const advice = ({ plan, call }: Sending): string => {
  if (plan.replay === "safe") return "Nothing was changed.";
  if (call.progress.outcome === "not-applied") return "Nothing was applied.";
  return plan.replay === "never"
    ? "It may have been applied: check before sending it again."
    : "It may have been applied; repeating it does no harm.";
};

// The statuses of the service itself that leave the outcome open. A gateway sends all other such statuses, and
// those with another body.
const serviceStatuses = [500, 503];

const hintFor = (
  failure: AttemptFailure,
  { sending, retryAfterMs, wallTime }: FailureFacts,
): string | undefined => {
  const { id, budgets } = sending.operation;
  const { status = 0, json, headers = {} } = failure.response ?? {};
  if (status === 400 && operationsWithTimes.has(id)) return clockHint(headers, wallTime);
  if (status === 429) return pauseHint(budgets.at(-1), retryAfterMs);
  const hint = onceHint(sending) ?? hintOf(failure, id);
  // If the body has no message, the message of the error already contains the advice.
  const isInMessage = failure.kind !== "status" || sentenceOf(json) === undefined;
  const isFromService = serviceStatuses.includes(status) && documentedSentence(json) !== undefined;
  const isClear = isFromService || !mayHaveTakenEffect(sending.operation, failure);
  return hint ?? (isInMessage || isClear ? undefined : advice(sending));
};

const statusError = (failure: AttemptFailure, response: HttpResponse, facts: FailureFacts) => {
  const { status } = response;
  const { operation, call } = facts.sending;
  const sentence = sentenceOf(response.json);
  const text = sentence ?? `${operation.id}: ${answererOf(response)}. ${advice(facts.sending)}`;
  const message = facts.note === undefined ? text : `${text} (${facts.note})`;
  const details = {
    ...call.progress,
    status,
    headers: toHeaders(response.headers),
    body: response.isJson ? response.json : response.text,
    retryAfterMs: facts.retryAfterMs,
    hint: hintFor(failure, facts),
  };
  if (status === 429) return new RateLimitError(message, details);
  if (status === 503) return new ServiceUnavailableError(message, details);
  if (isMailAccountRefusal(operation, failure)) return new MailAccountError(message, details);
  const Class = classByStatus[status] ?? ApiError;
  return new Class(message, details);
};

const failedAttempt = (failure: AttemptFailure, facts: FailureFacts): TouchpointError => {
  if (failure.kind === "status" && failure.response !== undefined) {
    return statusError(failure, failure.response, facts);
  }
  const { progress } = facts.sending.call;
  const details = { ...progress, cause: failure.cause, hint: hintFor(failure, facts) };
  const start = failure.wasSent ? "sent, no usable response" : "not sent";
  const message = `${progress.operation}: ${start} (${failure.message}). ${advice(facts.sending)}${facts.note === undefined ? "" : ` ${facts.note}`}`;
  if (failure.kind === "timeout") return new TimeoutError(message, details);
  if (failure.kind === "broken" || failure.kind === "too-large") {
    return new ResponseValidationError(message, { ...details, status: failure.response?.status ?? 200 });
  }
  return new ConnectionError(message, details);
};

type CallEnding = DeadlineExceeded | ClientClosed;

const isEnding = (reason: unknown): reason is CallEnding =>
  reason instanceof DeadlineExceeded || reason instanceof ClientClosed;

const endingOf = (cause: CallEnding, progress: Progress, hint: string | undefined): TouchpointError => {
  const Class = cause instanceof DeadlineExceeded ? TimeoutError : ConnectionError;
  const message = `${progress.operation}: ${cause.message}, outcome ${progress.outcome}.`;
  return new Class(message, { ...progress, cause, hint });
};

/** Copies an error and changes some of its fields, because fields such as `outcome` and `hint` are read-only. */
export const errorWith = (error: TouchpointError, field: Partial<ErrorDetails>): TouchpointError => {
  // Every error class accepts its own fields as details.
  const Class = error.constructor as new (message: string, details: object) => TouchpointError;
  const copy = new Class(error.message, { ...error, cause: error.cause, ...field });
  copy.partial = error.partial;
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
};

/**
 * Creates the error for the end of a call. The reason of a caller's own signal stays unchanged.
 *
 * @param hint - advice for the error, unless `thrown` is a public error, which has its own.
 */
export const callErrorFrom = (thrown: unknown, progress: Progress, hint?: string): unknown => {
  // The deadline and `close` end a request together with its call, so the error must describe the call.
  const reason = thrown instanceof TouchpointError && isEnding(thrown.cause) ? thrown.cause : thrown;
  if (isEnding(reason))
    return endingOf(reason, progress, thrown instanceof TouchpointError ? thrown.hint : hint);
  const hasOtherOutcome = reason instanceof TouchpointError && reason.outcome !== progress.outcome;
  // This request had no effect, but an earlier request of the call may have had one.
  return hasOtherOutcome && progress.outcome === "unknown"
    ? errorWith(reason, { outcome: "unknown" })
    : reason;
};

/**
 * Creates the public error for a request that failed.
 *
 * @param notes - `wallTime` is the time on this machine's clock, in milliseconds since 1970.
 */
export const errorFrom = (
  thrown: unknown,
  sending: Sending,
  notes: FailureNotes & { readonly wallTime: number },
): unknown => {
  if (!(thrown instanceof AttemptFailure))
    return callErrorFrom(thrown, sending.call.progress, onceHint(sending));
  if (thrown.kind !== "aborted") return failedAttempt(thrown, { sending, ...notes });
  return callErrorFrom(thrown.cause, sending.call.progress, onceHint(sending));
};
