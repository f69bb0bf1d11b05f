import type { ApiErrorCode, ErrorDetails, Outcome, PartialWork } from "./error-details.ts";

export type { ApiErrorCode, ErrorDetails, Outcome, PartialWork } from "./error-details.ts";

// A registered symbol, so that an ESM and a CommonJS copy of the package recognize each other's errors.
const brand = Symbol.for("touchpoint-sdk.error");

const longestMessage = 2_000;
const cutMessage = /^.{2000}… \(\d{1,10} characters\)$/s;

/** Cuts a very long message of the service or about the input. `body` and `issues` have the complete text. */
const bounded = (message: string): string =>
  message.length > longestMessage && !cutMessage.test(message)
    ? `${message.slice(0, longestMessage)}… (${message.length} characters)`
    : message;

/**
 * The base class of all errors of the library. (An abort throws the signal's own reason instead.)
 *
 * `code` is a literal per class. `operation` names the called method, or the operation whose request failed. `attempts`
 * is the number of requests. `outcome` says whether the call may have taken effect.
 */
export abstract class TouchpointError extends Error {
  /** A literal per class: `rate_limited`, `timeout`, …. */
  abstract readonly code: ErrorCode;
  /**
   * The called method (`contacts.create`), or the operation whose request failed: `contacts.find` uses `contacts.list`.
   * Undefined outside a call.
   */
  readonly operation: string | undefined;
  /** The number of requests. */
  readonly attempts: number;
  /** Whether the call may have taken effect. */
  readonly outcome: Outcome;
  /**
   * Advice in one sentence: for example, the scope that a 403 requires, or `NODE_EXTRA_CA_CERTS` for an unknown
   * certificate. `util.inspect` and loggers print it. Undefined if there is no advice beyond the message.
   */
  declare readonly hint: string | undefined;
  /** The work done before this error, if the call has several requests; otherwise undefined. */
  partial: PartialWork | undefined = undefined;

  /** Created by the library; useful in your own tests. */
  constructor(message: string, details: ErrorDetails = {}) {
    super(bounded(message), details.cause === undefined ? undefined : { cause: details.cause });
    Object.defineProperty(this, brand, { value: true });
    this.operation = details.operation;
    this.attempts = details.attempts ?? 0;
    this.outcome = details.outcome ?? "not-applied";
    // Don't set an undefined hint, so that a printed error has no line for it.
    if (details.hint !== undefined) this.hint = details.hint;
  }
}

/**
 * Whether a value is an error of this library. It also recognizes errors of another copy of the package, unlike
 * `instanceof`.
 *
 * @example
 * ```ts
 * import { isTouchpointError } from "touchpoint-sdk/errors";
 *
 * try {
 *   await client.contacts.create({ email: "ada@example.com" });
 * } catch (error) {
 *   if (!isTouchpointError(error)) throw error;
 *   if (error.code === "rate_limited") console.log(`again in ${error.retryAfterMs} ms`); // the code narrows the type
 *   else console.log(error.code, error.outcome);
 * }
 * ```
 */
export const isTouchpointError = (error: unknown): error is AnyTouchpointError =>
  typeof error === "object" && error !== null && brand in error;

/** Invalid options, an unusable file, or a failed `apiKey` function. For options, the message lists all faults. */
export class ConfigurationError extends TouchpointError {
  readonly code = "configuration_invalid";
}

/** One fault of a value: its path and what is wrong. */
export interface Issue {
  /** The path, as you would type it: `customFields.plan`, `events[3].name`; empty for the value itself. */
  readonly path: string;
  /** What is wrong, as the second half of a sentence: `must be a string`. */
  readonly message: string;
}

/**
 * Invalid input. Nothing was sent, except the items of a stream before the fault (see `partial`). `issues` names each
 * field and the fix.
 */
export class ValidationError extends TouchpointError {
  readonly code = "input_invalid";
  /** All faults of the input; empty if the message names the fault, for example a misspelled option. */
  readonly issues: readonly Issue[];

  /** Created by the library; useful in your own tests. */
  constructor(message: string, details: ErrorDetails & { readonly issues?: readonly Issue[] } = {}) {
    super(message, details);
    this.issues = details.issues ?? [];
  }
}

/** An email to an address that `recipients.allow` or `TOUCHPOINT_RECIPIENTS` does not allow; nothing was sent. */
export class RecipientRefusedError extends TouchpointError {
  readonly code = "recipient_refused";
}

/** Details of a refusal by a `once` key. */
export interface SendOnceDetails extends ErrorDetails {
  /** Why the key refuses; default: `once_unknown`. */
  readonly code?: SendOnceError["code"] | undefined;
  /** The key. */
  readonly key: string;
  /** The time of the claim, in milliseconds since 1970. */
  readonly since: number;
  /** The fields in which the email differs from the one under the key; default: none. */
  readonly differs?: readonly string[] | undefined;
}

/**
 * The `once` key of an email refused the call. This call sent nothing. The `code` is one of these:
 *
 * - `once_pending`: another call is sending the email now. A later call with the key returns its result.
 * - `once_unknown`: nobody knows whether an earlier call sent the email. Find out, then call `ledger.settle`.
 * - `once_mismatch`: the key belongs to a different email. `differs` names the fields. The outcome is `not-applied`.
 */
export class SendOnceError extends TouchpointError {
  readonly code: "once_mismatch" | "once_pending" | "once_unknown" = "once_unknown";
  /** The key, as given in `once`. */
  readonly key: string;
  /** The time of the claim that took the key, in milliseconds since 1970. */
  readonly since: number;
  /** The fields in which the email differs from the one under the key; empty unless `code` is `once_mismatch`. */
  readonly differs: readonly string[];

  /** Created by the library; useful in your own tests. */
  constructor(message: string, details: SendOnceDetails) {
    super(message, details);
    this.code = details.code ?? "once_unknown";
    this.key = details.key;
    this.since = details.since;
    this.differs = details.differs ?? [];
  }
}

/** A success response whose shape is unusable, or any invalid one with `responseValidation: "strict"`. */
export class ResponseValidationError extends TouchpointError {
  readonly code = "response_invalid";
  /** All faults of the response; empty if it could not be parsed. */
  readonly issues: readonly Issue[];
  /** The HTTP status of the response. */
  readonly status: number;

  /** Created by the library; useful in your own tests. */
  constructor(
    message: string,
    details: ErrorDetails & { readonly issues?: readonly Issue[]; readonly status: number },
  ) {
    super(message, details);
    this.issues = details.issues ?? [];
    this.status = details.status;
  }
}

/**
 * No complete response arrived: the connection was refused, reset, redirected or broken, the client was closed, or the
 * Redis behind the limits is unavailable.
 */
export class ConnectionError extends TouchpointError {
  readonly code: "connection_failed" | "timeout" = "connection_failed";
}

/** The attempt (`timeoutMs`) or the complete call (`totalTimeoutMs`) took longer than allowed. */
export class TimeoutError extends ConnectionError {
  override readonly code = "timeout";
}

/** Details of the service's response. */
export interface ApiErrorDetails extends ErrorDetails {
  /** The HTTP status. */
  readonly status: number;
  /** The response headers. */
  readonly headers: Headers;
  /** The parsed JSON body, or the text when it was not JSON. */
  readonly body: unknown;
}

/**
 * The service responded with an error status. A status without its own class gets this class. The message is the
 * service's own error message.
 *
 * Source: service document, Errors.
 */
export class ApiError extends TouchpointError {
  readonly code: ApiErrorCode = "api_error";
  /** The HTTP status. */
  readonly status: number;
  /** The response headers. */
  readonly headers: Headers;
  /** The parsed JSON body, or the text when it was not JSON. */
  readonly body: unknown;

  /** Created by the library; useful in your own tests. */
  constructor(message: string, details: ApiErrorDetails) {
    super(message, details);
    this.status = details.status;
    this.headers = details.headers;
    this.body = details.body;
  }
}

/** Rounds up, so that no caller retries too early. */
const wholeMs = (ms: number | undefined): number | undefined => (ms === undefined ? ms : Math.ceil(ms));

/** 400: a field is missing or invalid; the message says which. */
export class BadRequestError extends ApiError {
  override readonly code = "bad_request";
}

/** 401: the key is missing, invalid, revoked or expired. */
export class AuthenticationError extends ApiError {
  override readonly code = "authentication_failed";
}

/** 403: the key lacks the scope, its creator's role forbids it, or the request seemed to come from a browser. */
export class PermissionDeniedError extends ApiError {
  override readonly code = "permission_denied";
}

/** 404: no record with that id in the key's workspace. */
export class NotFoundError extends ApiError {
  override readonly code = "not_found";
}

/** 409: a conflict with an existing record. */
export class ConflictError extends ApiError {
  override readonly code = "conflict";
}

/**
 * 429, or a call that the client refused because of a limit. `status` is 429 in both cases. `attempts` is 0 if nothing
 * was sent.
 */
export class RateLimitError extends ApiError {
  override readonly code = "rate_limited";
  /** How long to wait, in whole milliseconds, according to the service or the used-up limit; undefined if unknown. */
  readonly retryAfterMs: number | undefined;
  /**
   * The limit that made the client refuse the call: `emails`, `emailsPerDay`, … or `concurrency`; undefined if the
   * service refused it.
   */
  readonly limit: string | undefined;

  /** Created by the library; useful in your own tests. */
  constructor(
    message: string,
    details: ApiErrorDetails & {
      readonly retryAfterMs: number | undefined;
      readonly limit?: string | undefined;
    },
  ) {
    super(message, details);
    this.retryAfterMs = wholeMs(details.retryAfterMs);
    this.limit = details.limit;
  }
}

/** 500: the service failed. */
export class InternalServerError extends ApiError {
  override readonly code = "server_error";
}

/** 502 for an email, with the service's own message: the mail account refused the email or failed to send it. */
export class MailAccountError extends ApiError {
  override readonly code = "mail_account_failed";
}

/** Any other 502, usually from a proxy. */
export class BadGatewayError extends ApiError {
  override readonly code = "bad_gateway";
}

/** 503: the service is briefly unavailable. */
export class ServiceUnavailableError extends ApiError {
  override readonly code = "service_unavailable";
  /** How long to wait according to the service, in whole milliseconds; undefined if it returned no time. */
  readonly retryAfterMs: number | undefined;

  /** Created by the library; useful in your own tests. */
  constructor(message: string, details: ApiErrorDetails & { readonly retryAfterMs: number | undefined }) {
    super(message, details);
    this.retryAfterMs = wholeMs(details.retryAfterMs);
  }
}

/** 504: a gateway got no response from the service in time. The service may have applied the request. */
export class GatewayTimeoutError extends ApiError {
  override readonly code = "gateway_timeout";
}

/** Every error of the library. `code` narrows the type: `error.code === "rate_limited"` makes it a `RateLimitError`. */
export type AnyTouchpointError =
  | (ApiError & { readonly code: "api_error" })
  | AuthenticationError
  | BadGatewayError
  | BadRequestError
  | ConfigurationError
  | ConflictError
  | (ConnectionError & { readonly code: "connection_failed" })
  | GatewayTimeoutError
  | InternalServerError
  | MailAccountError
  | NotFoundError
  | PermissionDeniedError
  | RateLimitError
  | RecipientRefusedError
  | ResponseValidationError
  | SendOnceError
  | ServiceUnavailableError
  | TimeoutError
  | ValidationError;

/** The `code` of an error: one per class. */
export type ErrorCode = AnyTouchpointError["code"];

// The names are literals, because a minifier renames the classes. They are on the prototypes, as in built-in errors.
for (const [name, { prototype }] of Object.entries({
  ApiError,
  AuthenticationError,
  BadGatewayError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  GatewayTimeoutError,
  InternalServerError,
  MailAccountError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RecipientRefusedError,
  ResponseValidationError,
  SendOnceError,
  ServiceUnavailableError,
  TimeoutError,
  TouchpointError,
  ValidationError,
}))
  Object.defineProperty(prototype, "name", { value: name, configurable: true, writable: true });
