import type { OperationFacts, ReplayClass } from "../service/define.ts";
import type { AttemptFailure } from "./types.ts";

/** What to do after a failed attempt. */
export type Verdict =
  | { readonly again: true /** How long to wait first. */; readonly waitMs: number }
  | { readonly again: false };

/** What the decision depends on, besides the failure. */
export interface Situation {
  readonly operation: Pick<OperationFacts, "isEmail">;
  readonly replay: ReplayClass;
  /** Attempts made so far, including the failed one. */
  readonly attempts: number;
  readonly maxRetries: number;
  /** Whether this is the call's first 401 and a newer key may be available. */
  readonly canRenewKey: boolean;
  /** The wait that the response asked for, if any. */
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

// A refusal that uses one of these words costs a look at the mail account; the other way round, a second email.
const wordsOfGateways = /upstream|gateway|time-?out|timed out|connection|incomplete|proxy/i;

/** The service's own 502 on an email is a sentence about the account; any other 502 comes from a proxy. */
export const isMailAccountRefusal = (
  { isEmail = false }: Pick<OperationFacts, "isEmail">,
  failure: AttemptFailure,
): boolean => {
  if (failure.response?.status !== 502 || !isEmail) return false;
  const body = failure.response.json;
  if (typeof body !== "object" || body === null || !("error" in body) || typeof body.error !== "string")
    return false;
  // Exactly the documented body: a proxy's JSON has more fields, or speaks of gateways.
  return Object.keys(body).length === 1 && !wordsOfGateways.test(body.error);
};

// What proxies answer when the service was slow with a request that it has read, or a connection broke.
const statusesOfProxies = [408, 460, 499];

/** Whether a request that was answered with this status may have taken effect. */
export const isUnclearStatus = (status: number): boolean =>
  status >= 500 || statusesOfProxies.includes(status);

/** Whether the failed attempt may have taken effect. */
export const mayHaveTakenEffect = (operation: Situation["operation"], failure: AttemptFailure): boolean => {
  if (failure.kind !== "status") return failure.wasSent;
  return isUnclearStatus(failure.response?.status ?? 0) && !isMailAccountRefusal(operation, failure);
};

// They are about the request, or about the network it came from (511): a repeat gets the same response.
const finalServerStatuses = [501, 505, 506, 510, 511];

/**
 * Whether a response with this status may be a different one next time. Any other 5xx is: beside the documented ones,
 * network edges have their own, such as Cloudflare's 520 to 530, 529 and 598.
 */
export const isTemporaryStatus = (status: number): boolean =>
  status === 425 ||
  status === 429 ||
  statusesOfProxies.includes(status) ||
  (status >= 500 && status <= 599 && !finalServerStatuses.includes(status));

// A complete response that will be the same next time.
const isFinal = (operation: Situation["operation"], failure: AttemptFailure): boolean => {
  if (["aborted", "redirect", "too-large", "empty", "unmocked"].includes(failure.kind)) return true;
  if (failure.kind !== "status") return false;
  return !isTemporaryStatus(failure.response?.status ?? 0) || isMailAccountRefusal(operation, failure);
};

/** Decides about the next attempt. Pure, so that every case can be tested. */
export const judge = (failure: AttemptFailure, situation: Situation): Verdict => {
  const { operation, replay, attempts, canRenewKey, maxRetries, retryAfterMs, maxRetryAfterMs, random } =
    situation;
  const status = failure.response?.status;
  // A rotated key is not a failure. It is retried once per call, even if nothing else is retried.
  if (canRenewKey) return { again: true, waitMs: 0 };
  if (attempts > maxRetries || isFinal(operation, failure)) return { again: false };
  if (replay === "never" && mayHaveTakenEffect(operation, failure)) return { again: false };
  // Zero and a date in the past give no time: all callers would retry at the same moment.
  const askedMs = retryAfterMs ?? 0;
  if (askedMs === 0) return { again: true, waitMs: backoffMs(attempts, random) };
  // Never shortened: the client waits the full time, or does not retry.
  if (askedMs > maxRetryAfterMs) return { again: false };
  // These two pause their budget, which also delays this call.
  return { again: true, waitMs: status === 429 || status === 503 ? 0 : askedMs };
};
