import type { Issue } from "./errors.ts";
import { tell } from "./log.ts";

/** Why a request waits, and for how long at least, as far as is known; told again when the reason changes. */
export interface WaitNotice {
  readonly operation: string;
  /** The limit it waits for; `concurrency` for a free slot. */
  readonly waitingFor: string;
  readonly reason: "limit" | "pause" | "concurrency";
  readonly waitMs: number;
}

/** An attempt failed and will be made again. */
export interface RetryNotice {
  readonly operation: string;
  /** The attempt that failed, counted from 1. */
  readonly attempt: number;
  /** Back-off before the next; 0 when its budget is paused instead. */
  readonly waitMs: number;
  /** Undefined when no answer came. */
  readonly status: number | undefined;
}

/** One attempt, without any content. */
export interface AttemptNotice {
  readonly operation: string;
  readonly method: string;
  /** The path as the document writes it, without ids and query. */
  readonly route: string;
  /** Counted from 1. */
  readonly attempt: number;
}

/** An answer came, of whatever status. */
export interface ResponseNotice extends AttemptNotice {
  readonly status: number;
  readonly durationMs: number;
}

/** An answer did not fit the document. */
export interface ValidationNotice {
  readonly operation: string;
  readonly issues: readonly Issue[];
}

/**
 * Told what happens, when it happens; neither the key nor any personal data is passed. A hook that throws or
 * rejects is ignored.
 */
export interface Hooks {
  readonly onRequest?: ((notice: AttemptNotice) => void) | undefined;
  readonly onResponse?: ((notice: ResponseNotice) => void) | undefined;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
  readonly onValidationIssue?: ((notice: ValidationNotice) => void) | undefined;
}

/** Hooks that cannot break the call they watch. */
export const quietHooks = (hooks: Hooks): Hooks => {
  const wrap = <T>(hook: ((notice: T) => unknown) | undefined) =>
    hook && ((notice: T): void => tell(() => hook(notice)));
  return {
    onRequest: wrap(hooks.onRequest),
    onResponse: wrap(hooks.onResponse),
    onRetry: wrap(hooks.onRetry),
    onWait: wrap(hooks.onWait),
    onValidationIssue: wrap(hooks.onValidationIssue),
  };
};
