/** A fault by name. "Applied" means that the request takes effect, and only its response is faulty. */
export type FaultName =
  /** The connection resets; nothing is applied. */
  | "reset-before"
  /** Applied, then the connection resets before any byte of the answer. */
  | "reset-after-apply"
  /** Applied; the body breaks off in the middle. */
  | "truncate"
  /** No byte of an answer ever arrives; nothing is applied. */
  | "stall"
  /** Applied; no byte of the answer ever arrives. */
  | "stall-after-apply"
  /** Applied; the body is not valid JSON, although its content type is JSON. */
  | "garbage"
  /** A proxy's HTML page with status 502; nothing is applied. */
  | "html-502"
  /** Applied; every field but the first is missing. */
  | "missing-fields";

/** A response with a status of your choice. */
export interface StatusFault {
  /** The status, 200 to 599. */
  readonly status: number;
  /** The `Retry-After` header: seconds, or any text, such as `date.toUTCString()` for an HTTP date. */
  readonly retryAfter?: number | string;
  /** The body. Default: `{ error }`. A string is sent unchanged. A 204, 205 or 304 is sent without a body. */
  readonly body?: unknown;
  /**
   * More headers, such as the `location` of a redirect. A `content-type` or `retry-after` here, in any letter case,
   * replaces the default `application/json` or the field `retryAfter`.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the request takes effect anyway; default: false. */
  readonly applied?: boolean;
}

/** Batch items that fail inside the 207 of `events.recordBatch` and are not applied. */
export interface ItemsFault {
  /** The indexes of the failing items in the batch, 0 to 99. */
  readonly items: readonly number[];
  /** The status of each failing item, 200 to 599; default: 500. */
  readonly status?: number;
}

/** A delay of the service's own response. */
export interface DelayFault {
  /** The delay in milliseconds on the sandbox's clock. The request is counted and applied at once. */
  readonly delayMs: number;
}

/** What happens to a request: a fault by name, a status, failing batch items, or a delay. */
export type Fault = FaultName | StatusFault | ItemsFault | DelayFault;

/** Which requests fail, and how. */
export interface FaultOptions {
  /** An operation id such as `contacts.list`, or `*` (default) for any request, even to an unknown path. */
  readonly operation?: string;
  /** The first request that fails, counted from now, starting at 1 (default). */
  readonly nth?: number;
  /** How many requests fail, starting with `nth`. Default 1; `Infinity` for all. */
  readonly times?: number;
  /** The probability that each of these requests fails, 0–1, drawn from the sandbox's seed. Default 1. */
  readonly chance?: number;
  /** What happens to these requests. */
  readonly with: Fault;
}

/**
 * A planned fault: count its hits, or remove it.
 *
 * @example
 * ```ts
 * const fault = sandbox.fail({ operation: "emails.send", times: 3, with: { status: 503 } });
 * fault.remove();
 * console.log(fault.hits);
 * ```
 */
export interface PlannedFault {
  /** The number of requests that failed because of this fault. */
  readonly hits: number;
  /** Removes the fault: later requests are answered normally. */
  remove(): void;
}
