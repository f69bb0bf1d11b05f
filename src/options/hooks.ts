import type { Issue } from "../errors.ts";
import { callSafely } from "./logger.ts";

/** Why a request waits, and for how long at least, as far as is known; told again when the reason changes. */
export interface WaitNotice {
  /** The operation of the request, `contacts.create`; of an upsert, say, those that it is made of. */
  readonly operation: string;
  /** The limit it waits for: `requests`, `emails` or `events`; `concurrency` for a free slot. */
  readonly waitingFor: string;
  /** `limit`: no room in it; `pause`: the service asked to wait; `concurrency`: no slot of the client is free. */
  readonly reason: "limit" | "pause" | "concurrency";
  /** How long at least, in milliseconds; 0 where nobody can say. */
  readonly waitMs: number;
}

/** An attempt failed and will be made again. */
export interface RetryNotice {
  /** The operation of the request, `contacts.create`. */
  readonly operation: string;
  /** The attempt that failed, counted from 1. */
  readonly attempt: number;
  /** Back-off before the next, in milliseconds; 0 when its budget is paused instead, or the key is asked for anew. */
  readonly waitMs: number;
  /** The answer's HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
}

/** One attempt, without any content. */
export interface AttemptNotice {
  /** The operation of the request, `contacts.create`; `request` of a free request. */
  readonly operation: string;
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** The path as the document writes it, without ids and query; `request` where the document has no such path. */
  readonly route: string;
  /** Counted from 1. */
  readonly attempt: number;
}

/** An answer came, of whatever status. */
export interface ResponseNotice extends AttemptNotice {
  /** The HTTP status; 4xx and 5xx too. */
  readonly status: number;
  /** From its leaving to the last byte of the answer, in milliseconds; waits for limits come before that. */
  readonly durationMs: number;
}

/** An answer did not fit the document, or the records of a list kept changing places while it was walked. */
export interface ValidationNotice {
  /** The operation of the request, `contacts.list`. */
  readonly operation: string;
  /** Each field that does not fit, and why. */
  readonly issues: readonly Issue[];
}

/**
 * Told what happens, when it happens; neither the key nor any personal data is passed. A hook that throws or
 * rejects is ignored.
 */
export interface Hooks {
  /** An attempt leaves; what it waited for is behind it. */
  readonly onRequest?: ((notice: AttemptNotice) => void) | undefined;
  /** A whole answer came, of whatever status. */
  readonly onResponse?: ((notice: ResponseNotice) => void) | undefined;
  /** An attempt failed, and another follows after `waitMs`. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** A request has to wait for a limit, the end of a pause or a free slot. */
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
  /** An answer does not fit and is handed over all the same, or a list changes its order while it is read. */
  readonly onValidationIssue?: ((notice: ValidationNotice) => void) | undefined;
}

/** Hooks that cannot break the call they watch. */
export const safeHooks = (hooks: Hooks): Hooks => {
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
