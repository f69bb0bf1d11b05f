import type { OperationFacts, ReplayClass } from "../service/define.ts";
import type { AttemptFailure } from "./types.ts";

/** The facts, besides the failure, on which the decision depends. */
export interface Situation {
  readonly operation: Pick<OperationFacts, "isEmail">;
  readonly replay: ReplayClass;
  /** The number of attempts so far, including the failed one. */
  readonly attempts: number;
  readonly maxRetries: number;
  /** Whether this is the request's first 401 and a newer key may be available. */
  readonly canRenewKey: boolean;
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

// A 502 with one of these words counts as a gateway's, so its outcome is unknown. If it was the service's refusal after
// all, somebody checks in vain whether the email was sent. The opposite mistake would send a second email.
// The last three lines are the messages of HTTP clients (Node, undici, Go, Python, Java, .NET, curl) for a request
// that was sent and got no response: a gateway that is written with one of them often returns that message.
const gatewayWords = new RegExp(
  [
    "upstream|gateway|proxy|time-?out|timed out|deadline exceeded|connection|incomplete|no response|no healthy",
    "^service unavailable\\W*$",
    "socket|hang up|other side closed|fetch failed|(^|was |been )aborted|^terminated|(context|was) cancell?ed",
    "parse error|\\beof\\b|broken pipe|server disconnected|empty reply|premature|end of file|sending the request",
    "\\be(conn|pipe|timedout|host|net|proto)",
  ].join("|"),
  "i",
);

/** The message of an error body that is exactly as documented; undefined for any other body, which a gateway may have sent. */
export const documentedSentence = (body: unknown): string | undefined =>
  typeof body === "object" &&
  body !== null &&
  "error" in body &&
  typeof body.error === "string" &&
  // JSON of a gateway has more fields.
  Object.keys(body).length === 1
    ? body.error
    : undefined;

/**
 * Whether a 502 for an email is the service's own message about the mail account. Any other 502 counts as a proxy's.
 */
export const isMailAccountRefusal = (
  { isEmail = false }: Pick<OperationFacts, "isEmail">,
  failure: AttemptFailure,
): boolean => {
  if (failure.response?.status !== 502 || !isEmail) return false;
  const sentence = documentedSentence(failure.response.json);
  return sentence !== undefined && !gatewayWords.test(sentence);
};

// Proxies return these statuses when the service is slow to respond to a request, or when a connection breaks. In both
// cases, the service may have read the request.
const proxyStatuses = [408, 460, 499];

/** Whether a request with this response status may have taken effect. */
export const isUnclearStatus = (status: number): boolean => status >= 500 || proxyStatuses.includes(status);

/** Whether the failed attempt may have taken effect. */
export const mayHaveTakenEffect = (operation: Situation["operation"], failure: AttemptFailure): boolean => {
  if (failure.kind !== "status") return failure.wasSent;
  return isUnclearStatus(failure.response?.status ?? 0) && !isMailAccountRefusal(operation, failure);
};

// These statuses are about the request or the client's network (511), so a repeated request gets the same response.
const finalServerStatuses = [501, 505, 506, 510, 511];

/**
 * Whether a repeated request may get a different response. This is true for most 5xx statuses, also for those that only
 * network edges use, such as Cloudflare's 520 to 530, 529 and 598.
 */
export const isTemporaryStatus = (status: number): boolean =>
  status === 425 ||
  status === 429 ||
  proxyStatuses.includes(status) ||
  (status >= 500 && status <= 599 && !finalServerStatuses.includes(status));

/** The codes of a proxy that refused the user name or password. tinyproxy answers 401 to a wrong one. */
export const refusedPassword: readonly unknown[] = ["PROXY_ANSWERED_401", "PROXY_ANSWERED_407"];

/** Whether the proxy refused the password. Some proxies lock an account after a few wrong ones. */
const isWrongPassword = ({ kind, cause }: AttemptFailure): boolean =>
  kind === "connection" && refusedPassword.includes(Object(cause).code);

/** Whether a repeated request would get the same response. */
const isFinal = (operation: Situation["operation"], failure: AttemptFailure): boolean => {
  if (isWrongPassword(failure)) return true;
  if (["aborted", "redirect", "too-large", "unmocked"].includes(failure.kind)) return true;
  if (failure.kind !== "status") return false;
  return !isTemporaryStatus(failure.response?.status ?? 0) || isMailAccountRefusal(operation, failure);
};

/**
 * Decides whether to retry after a failed attempt. It is a pure function, so that tests can cover every case.
 *
 * @returns how long to wait before the next attempt, in milliseconds; undefined for no further attempt.
 */
export const judge = (failure: AttemptFailure, situation: Situation): number | undefined => {
  const { operation, replay, attempts, canRenewKey, maxRetries, maxRetryAfterMs, random } = situation;
  const { status, retryAfterMs = 0 } = failure.response ?? {};
  // A 401 for a rotated key is not a failure. Retry the request once with the new key, even if `maxRetries` is 0.
  if (canRenewKey) return 0;
  if (attempts > maxRetries || isFinal(operation, failure)) return undefined;
  if (replay === "never" && mayHaveTakenEffect(operation, failure)) return undefined;
  // Treat a required wait of 0, or a date in the past, like none: otherwise, all callers would retry at the same
  // moment.
  if (retryAfterMs === 0) return backoffMs(attempts, random);
  // Never shorten the required wait: wait for all of it, or don't retry.
  if (retryAfterMs > maxRetryAfterMs) return undefined;
  // A 429 or 503 pauses the limits of the request, so the limits make the next attempt wait.
  return status === 429 || status === 503 ? 0 : retryAfterMs;
};
