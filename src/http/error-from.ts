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
  PermissionDeniedError,
  RateLimitError,
  ResponseValidationError,
  ServiceUnavailableError,
  TimeoutError,
  type TouchpointError,
} from "../errors.ts";
import { toHeaders } from "../runtime/headers.ts";
import type { ReplayClass } from "../service/define.ts";
import { hintOf } from "./hints.ts";
import type { HttpResponse } from "./message.ts";
import { isMailAccountRefusal } from "./retry-policy.ts";
import type { FailureNotes, Progress } from "./scope.ts";
import type { AttemptFailure } from "./types.ts";

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

const sentenceOf = (body: unknown, depth = 0): string | undefined => {
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

/** Creates the public error of a call's last failure. */
export const errorFrom = (failure: AttemptFailure, found: Findings): TouchpointError => {
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
