import type { OperationFacts, ReplayClass } from "../service/define.ts";
import type { AttemptFailure } from "./types.ts";

/** The decision after a failed attempt. */
export type Verdict =
  | { readonly again: true /** How long to wait first. */; readonly waitMs: number }
  | { readonly again: false };

/** The facts, besides the failure, on which the decision depends. */
export interface Situation {
  readonly operation: Pick<OperationFacts, "isEmail">;
  readonly replay: ReplayClass;
  /** The number of attempts so far, including the failed one. */
  readonly attempts: number;
  readonly maxRetries: number;
  /** Whether this is the call's first 401 and a newer key may be available. */
  readonly canRenewKey: boolean;
  /** The wait that the response requires, if any. */
  readonly retryAfterMs: number | undefined;
  readonly maxRetryAfterMs: number;
  /** 0 ≤ random < 1. */
  readonly random: number;
}

const firstBackoffMs = 500;
const longestBackoffMs = 8_000;

/**
 * Full jitter: a random wait between 0 and a limit that doubles, so that callers that failed together retry at
 * different times.
 */
export const backoffMs = (attempts: number, random: number): number =>
  random * Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempts - 1));

// Stryker disable OptionalChaining: a failure by status always has a response; its type alone does not say so.

// If a refusal has one of these words, a person has to check the mail account. The opposite mistake sends a second
// email.
const wordsOfGateways = /upstream|gateway|time-?out|timed out|connection|incomplete|proxy/i;

/** Whether a 502 for an email is the service's own message about the mail account. Any other 502 is from a proxy. */
export const isMailAccountRefusal = (
  { isEmail = false }: Pick<OperationFacts, "isEmail">,
  failure: AttemptFailure,
): boolean => {
  if (failure.response?.status !== 502 || !isEmail) return false;
  const body = failure.response.json;
  if (typeof body !== "object" || body === null || !("error" in body) || typeof body.error !== "string")
    return false;
  // Require exactly the documented body, because the JSON of a proxy has more fields, or mentions gateways.
  return Object.keys(body).length === 1 && !wordsOfGateways.test(body.error);
};

// Proxies return these if the service was slow with a request that it has read, or if a connection broke.
const statusesOfProxies = [408, 460, 499];

/** Whether a request with this response status may have taken effect. */
export const isUnclearStatus = (status: number): boolean =>
  status >= 500 || statusesOfProxies.includes(status);

/** Whether the failed attempt may have taken effect. */
export const mayHaveTakenEffect = (operation: Situation["operation"], failure: AttemptFailure): boolean => {
  if (failure.kind !== "status") return failure.wasSent;
  return isUnclearStatus(failure.response?.status ?? 0) && !isMailAccountRefusal(operation, failure);
};

// These are about the request, or about the client's network (511), so a repeated request gets the same response.
const finalServerStatuses = [501, 505, 506, 510, 511];

/**
 * Whether a repeated request may get another response than this status. That is true for most 5xx: besides the
 * documented ones, network edges have their own, such as Cloudflare's 520 to 530, 529 and 598.
 */
export const isTemporaryStatus = (status: number): boolean =>
  status === 425 ||
  status === 429 ||
  statusesOfProxies.includes(status) ||
  (status >= 500 && status <= 599 && !finalServerStatuses.includes(status));

// Whether a repeated request would get the same response.
const isFinal = (operation: Situation["operation"], failure: AttemptFailure): boolean => {
  if (["aborted", "redirect", "too-large", "empty", "unmocked"].includes(failure.kind)) return true;
  if (failure.kind !== "status") return false;
  return !isTemporaryStatus(failure.response?.status ?? 0) || isMailAccountRefusal(operation, failure);
};

/** Decides about the next attempt. It is a pure function, so that every case can be tested. */
export const judge = (failure: AttemptFailure, situation: Situation): Verdict => {
  const { operation, replay, attempts, canRenewKey, maxRetries, retryAfterMs, maxRetryAfterMs, random } =
    situation;
  const status = failure.response?.status;
  // A rotated key is not a failure. It is retried once per call, even if nothing else is retried.
  if (canRenewKey) return { again: true, waitMs: 0 };
  if (attempts > maxRetries || isFinal(operation, failure)) return { again: false };
  if (replay === "never" && mayHaveTakenEffect(operation, failure)) return { again: false };
  // Zero and a date in the past count as no required wait, because all callers would retry at the same moment.
  const requiredMs = retryAfterMs ?? 0;
  if (requiredMs === 0) return { again: true, waitMs: backoffMs(attempts, random) };
  // Never shorten the required wait: wait for all of it, or don't retry.
  if (requiredMs > maxRetryAfterMs) return { again: false };
  // A 429 and a 503 pause their budget, which also delays this call.
  return { again: true, waitMs: status === 429 || status === 503 ? 0 : requiredMs };
};
