import {
  ApiError,
  type ApiErrorDetails,
  AuthenticationError,
  BadGatewayError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  GatewayTimeoutError,
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
import { answererOf } from "./answerer.ts";
import { clockHint, hasTimes, hintOf, onceHint, pauseHint } from "./hints.ts";
import type { HttpResponse } from "./message.ts";
import { isMailAccountRefusal, mayHaveTakenEffect } from "./retry-policy.ts";
import { AttemptFailure, type FailureNotes, type Scope } from "./types.ts";

/** What the whole call has shown, not only its last attempt. */
export interface Findings extends FailureNotes {
  readonly call: Pick<Scope, "operation" | "plan" | "progress">;
  /** By this machine's clock, in milliseconds since 1970. */
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

/** The sentence of an error body; undefined without one. */
export const sentenceOf = (body: unknown, depth = 0): string | undefined => {
  if (typeof body !== "object" || body === null || depth > deepestSentence) return undefined;
  const { error, message }: { error?: unknown; message?: unknown } = body;
  if (typeof error === "string" && error !== "") return error;
  return typeof message === "string" && message !== "" ? message : sentenceOf(error, depth + 1);
};

const advice = ({ plan, progress }: Findings["call"]): string => {
  if (plan.replay === "safe") return "Nothing was changed.";
  if (progress.outcome === "not-applied") return "Nothing was applied.";
  return plan.replay === "never"
    ? "It may have been applied: check before sending it again."
    : "It may have been applied; repeating it does no harm.";
};

// Any other unclear status is a gateway's, and so is the sentence that comes with it.
const statusesOfService = [500, 503];

const hintFor = (failure: AttemptFailure, { call, retryAfterMs, wallTime }: Findings): string | undefined => {
  const { id, budgets } = call.operation;
  const { status = 0, json, headers = {} } = failure.response ?? {};
  if (status === 400 && hasTimes.has(id)) return clockHint(headers, wallTime);
  if (status === 429) return pauseHint(budgets.at(-1), retryAfterMs);
  const hint = onceHint(call) ?? hintOf(failure, id);
  // Without a sentence, the message says so already.
  const isSaid = failure.kind !== "status" || sentenceOf(json) === undefined;
  const isService = statusesOfService.includes(status) || !mayHaveTakenEffect(call.operation, failure);
  return hint ?? (isSaid || isService ? undefined : advice(call));
};

const statusError = (failure: AttemptFailure, response: HttpResponse, found: Findings) => {
  const { status } = response;
  const { operation, progress } = found.call;
  const sentence = sentenceOf(response.json);
  const said = sentence ?? `${operation.id}: ${answererOf(response)}. ${advice(found.call)}`;
  const message = found.note === undefined ? said : `${said} (${found.note})`;
  const details = {
    ...progress,
    status,
    headers: toHeaders(response.headers),
    body: response.isJson ? response.json : response.text,
    retryAfterMs: found.retryAfterMs,
    hint: hintFor(failure, found),
  };
  if (status === 429) return new RateLimitError(message, details);
  if (status === 503) return new ServiceUnavailableError(message, details);
  if (isMailAccountRefusal(operation, failure)) return new MailAccountError(message, details);
  const Class = plain[status] ?? ApiError;
  return new Class(message, details);
};

const failedAttempt = (failure: AttemptFailure, found: Findings): TouchpointError => {
  if (failure.kind === "status" && failure.response !== undefined) {
    return statusError(failure, failure.response, found);
  }
  const { progress } = found.call;
  const details = { ...progress, cause: failure.cause, hint: hintFor(failure, found) };
  const start = failure.wasSent ? "sent, no usable response" : "not sent";
  const message = `${progress.operation}: ${start} (${failure.message}). ${advice(found.call)}${found.note === undefined ? "" : ` ${found.note}`}`;
  if (failure.kind === "timeout") return new TimeoutError(message, details);
  if (failure.kind === "broken" || failure.kind === "empty" || failure.kind === "too-large") {
    return new ResponseValidationError(message, { ...details, status: failure.response?.status ?? 200 });
  }
  return new ConnectionError(message, details);
};

type Ending = DeadlineExceeded | ClientClosed;

const isEnding = (reason: unknown): reason is Ending =>
  reason instanceof DeadlineExceeded || reason instanceof ClientClosed;

const endingOf = (
  cause: Ending,
  { progress }: Findings["call"],
  hint: string | undefined,
): TouchpointError => {
  const Class = cause instanceof DeadlineExceeded ? TimeoutError : ConnectionError;
  const message = `${progress.operation}: ${cause.message}, outcome ${progress.outcome}.`;
  return new Class(message, { ...progress, cause, hint });
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
  const { outcome } = found.call.progress;
  if (isEnding(reason))
    return endingOf(reason, found.call, told instanceof TouchpointError ? told.hint : onceHint(found.call));
  const isLess = reason instanceof TouchpointError && reason.outcome !== outcome;
  return isLess && outcome === "unknown" ? withOutcome(reason, outcome) : reason;
};
