import type { ReplayClass } from "../service/define.ts";
import type { AttemptFailure } from "./types.ts";

/** What to do after a failed attempt. */
export type Verdict =
  | { readonly again: true /** How long to wait first. */; readonly waitMs: number }
  | { readonly again: false };

/** What the decision depends on beside the failure. */
export interface Situation {
  readonly operation: string;
  readonly replay: ReplayClass;
  /** Attempts made so far, the failed one included. */
  readonly attempts: number;
  readonly maxRetries: number;
  /** A 401 that a newer key may turn into an answer, for the first time in this call. */
  readonly canRenewKey: boolean;
  /** What the answer asked for, if anything. */
  readonly retryAfterMs: number | undefined;
  readonly maxRetryAfterMs: number;
  /** 0 ≤ random < 1. */
  readonly random: number;
}

const firstBackoffMs = 500;
const longestBackoffMs = 8_000;

/**
 * Full jitter: anything from nothing to a ceiling that doubles, so that callers who failed together come back
 * apart.
 */
export const backoffMs = (attempts: number, random: number): number =>
  random * Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempts - 1));

/** The service's own 502 on an email is its sentence about the account; any other comes from something between. */
export const isMailAccountRefusal = (operation: string, failure: AttemptFailure): boolean => {
  if (failure.response?.status !== 502 || !operation.startsWith("emails.")) return false;
  const body = failure.response.json;
  if (typeof body !== "object" || body === null || !("error" in body) || typeof body.error !== "string")
    return false;
  // Exactly the documented body: a proxy's JSON carries more, or only the status in words.
  return Object.keys(body).length === 1 && !/^bad gateway$/i.test(body.error.trim());
};

// What proxies say when the service was slow with a request that it has read, or a connection broke off meanwhile.
const statusesOfProxies = [408, 460, 499];

/** Whether the failed attempt may have had its effect all the same. */
export const mayHaveTakenEffect = (operation: string, failure: AttemptFailure): boolean => {
  if (failure.kind !== "status") return failure.wasSent;
  const status = failure.response?.status ?? 0;
  return statusesOfProxies.includes(status) || (status >= 500 && !isMailAccountRefusal(operation, failure));
};

const statusesWorthARepeat = [408, 425, 429, 500, 502, 503, 504];

// An answer that came whole and will be the same next time.
const isFinal = (operation: string, failure: AttemptFailure): boolean => {
  if (["aborted", "redirect", "too-large", "empty", "unmocked"].includes(failure.kind)) return true;
  if (failure.kind !== "status") return false;
  const status = failure.response?.status ?? 0;
  return !statusesWorthARepeat.includes(status) || isMailAccountRefusal(operation, failure);
};

/** Decides about the next attempt; pure, so that every case can be written down as a test. */
export const judge = (failure: AttemptFailure, situation: Situation): Verdict => {
  const { operation, replay, attempts, canRenewKey, maxRetries, retryAfterMs, maxRetryAfterMs, random } =
    situation;
  const status = failure.response?.status;
  // Rotation of a key is not a fault; it happens once a call, also where nothing else is repeated.
  if (canRenewKey) return { again: true, waitMs: 0 };
  // The pause that it was given back for holds it.
  if (failure.kind === "held") return { again: true, waitMs: 0 };
  if (attempts > maxRetries || isFinal(operation, failure)) return { again: false };
  if (replay === "never" && mayHaveTakenEffect(operation, failure)) return { again: false };
  // "At once" and a date that has passed name no time: the callers would all come back together.
  const askedMs = retryAfterMs ?? 0;
  if (askedMs === 0) return { again: true, waitMs: backoffMs(attempts, random) };
  // Never shortened: waited out, or not at all.
  if (askedMs > maxRetryAfterMs) return { again: false };
  // These two pause their budget, which holds this call back with all the others.
  return { again: true, waitMs: status === 429 || status === 503 ? 0 : askedMs };
};
