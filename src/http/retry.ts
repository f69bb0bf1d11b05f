import type { RetryNotice } from "../options/hooks.ts";
import { type AbortedWork, abortError } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { retryAfterMs } from "../runtime/headers.ts";
import { errorFrom } from "./error-from.ts";
import { judge, mayHaveTakenEffect } from "./retry-policy.ts";
import {
  AttemptFailure,
  type FailureKind,
  type HttpRequest,
  type HttpResponse,
  isWholeWithoutBody,
  type Send,
  type Stage,
} from "./types.ts";

const capacity = 500;
const costOfRepeat = 5;
// A service that does not respond is in a worse state than one that responds with an error.
const costAfterTimeout = 10;
const refillOfFirstAttempt = 1;

/** What a retry after this kind of failure costs of the quota. */
const retryCost = (kind: FailureKind): number => (kind === "timeout" ? costAfterTimeout : costOfRepeat);

/**
 * Limits the retries of all calls together, so that an outage does not multiply the traffic. Retries spend the quota
 * and successes refill it, with the numbers of the AWS SDKs' standard mode.
 */
export class RetryQuota {
  #left = capacity;

  /** Whether the quota has enough for a retry of this cost. */
  has(cost = costOfRepeat): boolean {
    return this.#left >= cost;
  }

  /** False if the retry is not allowed. */
  draw(cost: number): boolean {
    if (!this.has(cost)) return false;
    this.#left -= cost;
    return true;
  }

  /** A call succeeded, with a retry of this cost, or at its first attempt (0). */
  refill(drawn: number): void {
    this.#left = Math.min(capacity, this.#left + (drawn || refillOfFirstAttempt));
  }
}

export interface RetrySettings {
  readonly maxRetryAfterMs: number;
  readonly clock: Clock;
  readonly quota: RetryQuota;
  /** 0 ≤ random() < 1. */
  readonly random: () => number;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

const never = Number.POSITIVE_INFINITY;

const quotaNote = "It was not repeated: other failures have used up the retry quota.";

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The attempts of one call: makes them, remembers whether any may have taken effect, and decides about the next. */
class Attempts {
  readonly #request: HttpRequest;
  readonly #next: Send;
  readonly #settings: RetrySettings;
  #hasRenewedKey = false;
  /** What the last retry cost of the quota. */
  #drawn = 0;
  #isQuotaExhausted = false;

  constructor(request: HttpRequest, next: Send, settings: RetrySettings) {
    this.#request = request;
    this.#next = next;
    this.#settings = settings;
  }

  /** Makes an attempt; its failure goes to `otherwise`. */
  make(otherwise: (failure: unknown, attempts: Attempts) => Promise<HttpResponse>): Promise<HttpResponse> {
    const { stats } = this.#request;
    const answered = (response: HttpResponse) => {
      stats.attempts += 1;
      const accepted = this.#accept(response);
      return accepted instanceof AttemptFailure ? otherwise(accepted, this) : accepted;
    };
    const failed = (failure: unknown) => {
      // Any other error was thrown before the attempt was made; a returned attempt does not count.
      if (failure instanceof AttemptFailure && failure.kind !== "held") stats.attempts += 1;
      return otherwise(failure, this);
    };
    // Not an async function: its frame would be half of the memory of a call that waits for a limit.
    return this.#next(this.#numbered).then(answered, failed);
  }

  #accept(response: HttpResponse): HttpResponse | AttemptFailure {
    const { stats, mayBeEmpty, notFoundMeansDone } = this.#request;
    const { status } = response;
    if (isSuccess(status)) {
      if (response.isJson || (response.text === "" && mayBeEmpty)) {
        this.#settings.quota.refill(this.#drawn);
        return response;
      }
      const what = response.text === "" ? "an empty body" : "a body that is not JSON";
      const kind = isWholeWithoutBody(response) ? "empty" : "broken";
      return new AttemptFailure(kind, `status ${status} with ${what}`, { wasSent: true, response });
    }
    if (status === 404 && stats.mayHaveTakenEffect && notFoundMeansDone) {
      stats.wasGone = true;
      return { ...response, status: 204, json: undefined };
    }
    return new AttemptFailure("status", `status ${status}`, { wasSent: true, response });
  }

  makeAgain(): Promise<HttpResponse> {
    return this.make(async (failure) => {
      if (failure instanceof AttemptFailure) throw failure;
      // p-retry converts anything that is not an Error to a TypeError, and an abort reason may be any value.
      throw new AttemptFailure("aborted", "ended above the transport", { wasSent: false, cause: failure });
    });
  }

  /** Resolves when the next attempt is due; false if there is none. */
  async again(failure: unknown): Promise<boolean> {
    if (!(failure instanceof AttemptFailure)) return false;
    const { operation, stats, signal, onWait } = this.#request;
    stats.mayHaveTakenEffect ||= mayHaveTakenEffect(operation, failure);
    const canRenewKey = failure.response?.canRenewKey === true && !this.#hasRenewedKey;
    this.#hasRenewedKey ||= canRenewKey;
    const verdict = judge(failure, {
      ...this.#request,
      attempts: stats.attempts,
      canRenewKey,
      retryAfterMs: this.#retryAfterMs(failure),
      maxRetryAfterMs: this.#settings.maxRetryAfterMs,
      random: this.#settings.random(),
    });
    if (!verdict.again || signal?.aborted || this.#isTooLate(failure, verdict.waitMs)) return false;
    if (!canRenewKey && failure.kind !== "held" && !this.#draw(failure)) return false;
    const status = failure.response?.status;
    this.#settings.onRetry?.({ operation, attempt: stats.attempts, waitMs: verdict.waitMs, status });
    if (verdict.waitMs > 0) await this.#backOff(verdict.waitMs, onWait);
    return true;
  }

  /** The error that ends the call. */
  ending(failure: unknown): unknown {
    const work = this.#soFar;
    if (failure instanceof AttemptFailure && failure.kind !== "aborted")
      return errorFrom(failure, this.#request, {
        ...work,
        retryAfterMs: this.#retryAfterMs(failure),
        note: this.#isQuotaExhausted ? quotaNote : undefined,
      });
    return abortError(failure instanceof AttemptFailure ? failure.cause : failure, work);
  }

  /** Whether the call ends before another attempt could be made. */
  #isTooLate(failure: AttemptFailure, waitMs: number): boolean {
    const { deadlineAt, waits } = this.#request;
    const leftMs = deadlineAt === undefined ? never : deadlineAt - this.#settings.clock.now();
    const status = failure.response?.status;
    const pauseMs = status === 429 || status === 503 ? (this.#retryAfterMs(failure) ?? 0) : 0;
    return Math.max(waitMs, pauseMs) > leftMs || pauseMs > (waits?.leftMs ?? never);
  }

  /** Spends the quota for a retry. Refusals by the limits, and background work, cost nothing. */
  #draw(failure: AttemptFailure): boolean {
    if (failure.response?.status === 429 || this.#request.priority === "background") return true;
    const cost = retryCost(failure.kind);
    this.#isQuotaExhausted = !this.#settings.quota.draw(cost);
    if (!this.#isQuotaExhausted) this.#drawn = cost;
    return !this.#isQuotaExhausted;
  }

  get #numbered(): HttpRequest {
    const { stats } = this.#request;
    if (stats.attempts === 0) return this.#request;
    const isUnknown = this.#soFar.outcome === "unknown";
    return { ...this.#request, attempt: stats.attempts + 1, mayHaveTakenEffect: isUnknown };
  }

  get #soFar(): AbortedWork {
    const { operation, stats, replay } = this.#request;
    const isUnknown = this.#request.mayHaveTakenEffect || (stats.mayHaveTakenEffect && replay !== "safe");
    return { operation, attempts: stats.attempts, outcome: isUnknown ? "unknown" : "not-applied" };
  }

  async #backOff(ms: number, onWait: HttpRequest["onWait"]): Promise<void> {
    const { clock } = this.#settings;
    const before = clock.now();
    onWait?.("retry");
    try {
      await clock.sleep(ms, this.#request.signal);
    } finally {
      onWait?.(undefined);
    }
    this.#request.stats.waitedMs += clock.now() - before;
  }

  #retryAfterMs({ response }: AttemptFailure): number | undefined {
    return response && retryAfterMs(response.headers, this.#settings.clock.wallTime());
  }
}

/**
 * Retries what may be retried, and creates the public error of the last failure.
 *
 * p-retry runs the loop. It is loaded at the first failure, so that a call that succeeds does not pay for it. The wait
 * happens in `shouldRetry`, which p-retry awaits, because no other hook can be aborted.
 */
export const retry = (settings: RetrySettings): Stage =>
  function makeRetry(next) {
    return function retryStage(request) {
      const attempts = new Attempts(request, next, settings);
      if (request.signal?.aborted) return Promise.reject(attempts.ending(request.signal.reason));
      return attempts.make(repeat);
    };
  };

/** Continues after a first failure, and creates the error of the last one. */
const repeat = async (failure: unknown, attempts: Attempts): Promise<HttpResponse> => {
  // Refused while it waited, maybe together with thousands of others: the executor creates the error.
  if (!(failure instanceof AttemptFailure)) throw failure;
  try {
    if (!(await attempts.again(failure))) throw failure;
    const { default: pRetry } = await import("p-retry");
    return await pRetry(() => attempts.makeAgain(), {
      // The policy counts: only it knows the rules for a 401 with a new key, or a maximum of 0.
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 0,
      shouldRetry: ({ error }) => attempts.again(error),
    });
  } catch (last) {
    throw attempts.ending(last);
  }
};
