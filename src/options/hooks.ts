import type { Issue } from "../errors.ts";
import { callSafely } from "./logger.ts";

/** Why a request waits, and for at least how long. If the reason changes, `onWait` is called again. */
export interface WaitNotice {
  /** The operation of the request, for example `contacts.create`. An upsert reports the operations of its requests. */
  readonly operation: string;
  /** The limit for which the request waits: `requests`, `emails` or `events`; `concurrency` for a free slot. */
  readonly waitingFor: string;
  /**
   * `limit`: the limit is used up. `pause`: the service requires a wait. `concurrency`: the client has no free slot.
   */
  readonly reason: "limit" | "pause" | "concurrency";
  /** The minimum wait in milliseconds; 0 if unknown. */
  readonly waitMs: number;
}

/** An attempt failed and will be retried. */
export interface RetryNotice {
  /** The operation of the request, `contacts.create`. */
  readonly operation: string;
  /** The number of the failed attempt, counted from 1. */
  readonly attempt: number;
  /**
   * The delay before the next attempt in milliseconds, or the pause that a 429 or 503 requires; 0 if the client first
   * gets a new key after a 401.
   */
  readonly waitMs: number;
  /** The HTTP status; undefined if no response arrived. */
  readonly status: number | undefined;
}

/** One attempt, without its content. */
export interface AttemptNotice {
  /** The operation of the request, for example `contacts.create`; `request` for `client.request`. */
  readonly operation: string;
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** The path as the service's document writes it, without ids and query; `request` for `client.request`. */
  readonly route: string;
  /** The number of the attempt, counted from 1. */
  readonly attempt: number;
}

/** A response arrived, with any status. */
export interface ResponseNotice extends AttemptNotice {
  /** The HTTP status, including 4xx and 5xx. */
  readonly status: number;
  /** The time from sending the request to the last byte of the response, in milliseconds, without waits for limits. */
  readonly durationMs: number;
}

/** The message of the tracing channel `touchpoint:attempt`. The client sets its fields while the attempt proceeds. */
export interface AttemptTrace extends AttemptNotice {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** The HTTP status; undefined until, or unless, a response arrives. */
  status?: number;
  /** The time until the last byte of the response, in milliseconds. */
  durationMs?: number;
  /** Why no response arrived: a system error code such as `ECONNREFUSED`, or `timeout`, `aborted` and the like. */
  failure?: string;
  /** The attempt failed and is not retried, because failures of other calls have used up the retry quota. */
  quotaExhausted?: boolean;
}

/** The message of the tracing channel `touchpoint:call`. The client sets its fields when the call ends. */
export interface CallTrace {
  /** The called method, for example `contacts.create`. */
  readonly operation: string;
  /** The status of the last response; undefined if there was none. */
  status?: number;
  /** The number of attempts of all requests of the call; undefined if the call's own signal ended the call. */
  attempts?: number;
  /** The time that the call waited for limits and between retries, in milliseconds; undefined if the call failed. */
  waitedMs?: number;
}

/** A response does not match the service's document, or the order of a list changed while it was read. */
export interface ValidationNotice {
  /** The operation of the request, for example `contacts.list`. */
  readonly operation: string;
  /**
   * Each invalid field, with the reason. If any of the first 20 items of a list are invalid, only those are reported.
   */
  readonly issues: readonly Issue[];
}

/**
 * Functions that observe calls. They get neither the key nor personal data. A hook that throws or rejects is ignored.
 */
export interface Hooks {
  /** Called when an attempt is sent, after its waits. */
  readonly onRequest?: ((notice: AttemptNotice) => void) | undefined;
  /** Called when a complete response with any status has arrived. */
  readonly onResponse?: ((notice: ResponseNotice) => void) | undefined;
  /** Called when an attempt failed and the client will retry it after `waitMs`. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Called when a request has to wait for a limit, the end of a pause, or a free slot. */
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
  /** Called when the client returns an invalid response, or when the order of a list changed while it was read. */
  readonly onValidationIssue?: ((notice: ValidationNotice) => void) | undefined;
}

/** Wraps hooks, so that they cannot break a call. */
export const safeHooks = (hooks: Hooks): { readonly [Name in keyof Required<Hooks>]: Hooks[Name] } => {
  const wrap = <T>(hook: ((notice: T) => unknown) | undefined) =>
    hook && ((notice: T): void => callSafely(() => hook(notice)));
  return {
    onRequest: wrap(hooks.onRequest),
    onResponse: wrap(hooks.onResponse),
    onRetry: wrap(hooks.onRetry),
    onWait: wrap(hooks.onWait),
    onValidationIssue: wrap(hooks.onValidationIssue),
  };
};

export const hookNames: readonly string[] = Object.keys(safeHooks({}));
