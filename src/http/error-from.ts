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
import { clockHint, hasTimes, hintOf, onceHint, pauseHint } from "./hints.ts";
import type { HttpResponse } from "./message.ts";
import { isMailAccountRefusal, mayHaveTakenEffect } from "./retry-policy.ts";
import { AttemptFailure, type FailureNotes, type Progress, type Sending } from "./types.ts";

/** A failed attempt, and the facts about the complete call. */
interface Findings extends FailureNotes {
  readonly sending: Sending;
  /** The time on this machine's clock, in milliseconds since 1970. */
  readonly wallTime: number;
}

const plain: Readonly<Record<number, new (message: string, details: ApiErrorDetails) => ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  500: InternalServerError,
  502: BadGatewayError,
  504: GatewayTimeoutError,
};

// The service documents { error: string }. Frameworks often nest or rename it; a hostile body may be nested endlessly.
const deepestSentence = 8;

/** The error message in a body; undefined if there is none. */
export const sentenceOf = (body: unknown, depth = 0): string | undefined => {
  if (typeof body !== "object" || body === null || depth > deepestSentence) return undefined;
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

// A gateway sends every other unclear status, and the message in its body.
const statusesOfService = [500, 503];

const hintFor = (
  failure: AttemptFailure,
  { sending, retryAfterMs, wallTime }: Findings,
): string | undefined => {
  const { id, budgets } = sending.operation;
  const { status = 0, json, headers = {} } = failure.response ?? {};
  if (status === 400 && hasTimes.has(id)) return clockHint(headers, wallTime);
  if (status === 429) return pauseHint(budgets.at(-1), retryAfterMs);
  const hint = onceHint(sending) ?? hintOf(failure, id);
  // If the body has no message, the text about the gateway already explains the status.
  const isSaid = failure.kind !== "status" || sentenceOf(json) === undefined;
  const isService = statusesOfService.includes(status) || !mayHaveTakenEffect(sending.operation, failure);
  return hint ?? (isSaid || isService ? undefined : advice(sending));
};

const statusError = (failure: AttemptFailure, response: HttpResponse, findings: Findings) => {
  const { status } = response;
  const { operation, call } = findings.sending;
  const sentence = sentenceOf(response.json);
  const said = sentence ?? `${operation.id}: ${answererOf(response)}. ${advice(findings.sending)}`;
  const message = findings.note === undefined ? said : `${said} (${findings.note})`;
  const details = {
    ...call.progress,
    status,
    headers: toHeaders(response.headers),
    body: response.isJson ? response.json : response.text,
    retryAfterMs: findings.retryAfterMs,
    hint: hintFor(failure, findings),
  };
  if (status === 429) return new RateLimitError(message, details);
  if (status === 503) return new ServiceUnavailableError(message, details);
  if (isMailAccountRefusal(operation, failure)) return new MailAccountError(message, details);
  const Class = plain[status] ?? ApiError;
  return new Class(message, details);
};

const failedAttempt = (failure: AttemptFailure, findings: Findings): TouchpointError => {
  if (failure.kind === "status" && failure.response !== undefined) {
    return statusError(failure, failure.response, findings);
  }
  const { progress } = findings.sending.call;
  const details = { ...progress, cause: failure.cause, hint: hintFor(failure, findings) };
  const start = failure.wasSent ? "sent, no usable response" : "not sent";
  const message = `${progress.operation}: ${start} (${failure.message}). ${advice(findings.sending)}${findings.note === undefined ? "" : ` ${findings.note}`}`;
  if (failure.kind === "timeout") return new TimeoutError(message, details);
  if (failure.kind === "broken" || failure.kind === "empty" || failure.kind === "too-large") {
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

/** The same error again, with a field that it cannot change: `outcome`, `hint`. */
export const errorWith = (error: TouchpointError, field: Partial<ErrorDetails>): TouchpointError => {
  // Every class of errors takes its own fields as details.
  const Class = error.constructor as new (message: string, details: object) => TouchpointError;
  const made = new Class(error.message, { ...error, cause: error.cause, ...field });
  made.partial = error.partial;
  if (error.stack !== undefined) made.stack = error.stack;
  return made;
};

/**
 * Creates the error for the end of a call. It returns the reason of a caller's own signal unchanged.
 *
 * @param hint - advice for the error, if the reason has none.
 */
export const callErrorFrom = (ended: unknown, progress: Progress, hint?: string): unknown => {
  // If the complete call ended, create the error for the complete call and not for the request.
  const reason = ended instanceof TouchpointError && isEnding(ended.cause) ? ended.cause : ended;
  if (isEnding(reason))
    return endingOf(reason, progress, ended instanceof TouchpointError ? ended.hint : hint);
  const isLess = reason instanceof TouchpointError && reason.outcome !== progress.outcome;
  // It was refused, but an earlier request may have had an effect.
  return isLess && progress.outcome === "unknown" ? errorWith(reason, { outcome: "unknown" }) : reason;
};

/**
 * Creates the error for the end of a sending. Only this function and `CallView.error` create errors with an outcome.
 *
 * @param notes - `wallTime` is the time on this machine's clock, in milliseconds since 1970.
 */
export const errorFrom = (
  failed: unknown,
  sending: Sending,
  notes: FailureNotes & { readonly wallTime: number },
): unknown => {
  if (!(failed instanceof AttemptFailure))
    return callErrorFrom(failed, sending.call.progress, onceHint(sending));
  if (failed.kind !== "aborted") return failedAttempt(failed, { sending, ...notes });
  return callErrorFrom(failed.cause, sending.call.progress, onceHint(sending));
};
