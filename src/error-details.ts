/** Whether a failed call took effect: it certainly did not (`not-applied`), or it may have (`unknown`). */
export type Outcome = "not-applied" | "unknown";

/** The `code` of a response with an error status. */
export type ApiErrorCode =
  | "api_error"
  | "authentication_failed"
  | "bad_gateway"
  | "bad_request"
  | "conflict"
  | "gateway_timeout"
  | "mail_account_failed"
  | "not_found"
  | "permission_denied"
  | "rate_limited"
  | "server_error"
  | "service_unavailable";

/** What a call with several requests did before it failed. */
export interface PartialWork {
  /** The known results, in the order of the input. */
  readonly results?: readonly unknown[];
  /** The inputs that were processed. */
  readonly done?: readonly unknown[];
  /** The inputs that were not processed, or whose result is unknown. */
  readonly left?: readonly unknown[];
  /** The counts so far, in the form of the method's report. */
  readonly report?: object;
}

/** Details that every error of the library may have. */
export interface ErrorDetails {
  /** The called method, for example `contacts.create`. */
  readonly operation?: string | undefined;
  /** The number of requests; default: 0. */
  readonly attempts?: number | undefined;
  /** Whether the call may have taken effect; default: `not-applied`. */
  readonly outcome?: Outcome | undefined;
  /** The error that caused this one, if there is one. */
  readonly cause?: unknown;
  /** Advice that the message does not contain, if there is any. */
  readonly hint?: string | undefined;
}
