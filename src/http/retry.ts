import type { RetryNotice } from "../options/hooks.ts";
import type { Clock } from "../runtime/clock.ts";
import { retryAfterMs } from "../runtime/headers.ts";
import { type HttpRequest, type HttpResponse, isSuccess, isWholeWithoutBody } from "./message.ts";
import { backOff, repeatAfter } from "./retry-loop.ts";
import { judge, mayHaveTakenEffect } from "./retry-policy.ts";
import type { Scope } from "./scope.ts";
import { AttemptFailure, type FailureKind, type Send, type Stage } from "./types.ts";

const capacity = 500;
export const costOfRepeat = 5;
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

/** The attempts of one request: makes them, notes whether any may have taken effect, and decides about the next. */
class Attempts {
  readonly #scope: Scope;
  readonly #request: HttpRequest;
  readonly #next: Send;
  readonly #settings: RetrySettings;
  #hasRenewedKey = false;
  /** What the last retry cost of the quota. */
  #drawn = 0;
  #isQuotaExhausted = false;

  constructor(
    scope: Scope,
    sending: { readonly request: HttpRequest; readonly next: Send },
    settings: RetrySettings,
  ) {
    this.#scope = scope;
    this.#request = sending.request;
    this.#next = sending.next;
    this.#settings = settings;
  }

  /** Makes an attempt; its failure goes to `otherwise`. */
  make(otherwise: (failure: unknown, attempts: Attempts) => Promise<HttpResponse>): Promise<HttpResponse> {
    const { account } = this.#scope;
    const answered = (response: HttpResponse) => {
      account.attempted();
      const accepted = this.#accept(response);
      return accepted instanceof AttemptFailure ? otherwise(accepted, this) : accepted;
    };
    const failed = (failure: unknown) => {
      // Any other error was thrown before the attempt was made; a returned attempt does not count.
      if (failure instanceof AttemptFailure && failure.kind !== "held") account.attempted();
      return otherwise(failure, this);
    };
    // An own object for each attempt: the stages fill it in. The first has it already.
    const request = account.attempts === 0 ? this.#request : { ...this.#request };
    // Not an async function: its frame would be half of the memory of a call that waits for a limit.
    return this.#next(this.#scope, request).then(answered, failed);
  }

  #accept(response: HttpResponse): HttpResponse | AttemptFailure {
    const { effect, operation } = this.#scope;
    const { status } = response;
    if (isSuccess(status)) {
      if (response.isJson || (response.text === "" && operation.mayBeEmpty)) {
        this.#settings.quota.refill(this.#drawn);
        return response;
      }
      const what = response.text === "" ? "an empty body" : "a body that is not JSON";
      const kind = isWholeWithoutBody(response) ? "empty" : "broken";
      return new AttemptFailure(kind, `status ${status} with ${what}`, { wasSent: true, response });
    }
    if (status === 404 && effect.isPossible && operation.notFoundMeansDone) {
      effect.noteGone();
      return { ...response, status: 204, json: undefined };
    }
    return new AttemptFailure("status", `status ${status}`, { wasSent: true, response });
  }

  makeAgain(): Promise<HttpResponse> {
    return this.make(async (failure) => {
      throw failure;
    });
  }

  /** Resolves when the next attempt is due; false if there is none. */
  async again(failure: unknown): Promise<boolean> {
    if (!(failure instanceof AttemptFailure)) return false;
    const { operation, plan, account, effect, signal } = this.#scope;
    if (plan.replay !== "safe" && mayHaveTakenEffect(operation, failure)) effect.note();
    const canRenewKey = failure.response?.canRenewKey === true && !this.#hasRenewedKey;
    this.#hasRenewedKey ||= canRenewKey;
    const verdict = judge(failure, {
      operation,
      replay: plan.replay,
      maxRetries: plan.maxRetries,
      attempts: account.attempts,
      canRenewKey,
      retryAfterMs: this.#retryAfterMs(failure),
      maxRetryAfterMs: this.#settings.maxRetryAfterMs,
      random: this.#settings.random(),
    });
    if (!verdict.again || signal?.aborted || this.#isTooLate(failure, verdict.waitMs)) return false;
    if (!canRenewKey && failure.kind !== "held" && !this.#draw(failure)) return false;
    const status = failure.response?.status;
    const waitMs = Math.max(verdict.waitMs, this.#pauseMs(failure));
    const notice = { operation: operation.id, attempt: account.attempts, waitMs, status };
    this.#settings.onRetry?.(notice);
    if (verdict.waitMs > 0) await backOff(this.#scope, verdict.waitMs, this.#settings.clock);
    return true;
  }

  /** The error that ends the call. */
  ending(failure: unknown): unknown {
    if (!(failure instanceof AttemptFailure)) return this.#scope.fail(failure);
    return this.#scope.fail(failure, {
      retryAfterMs: this.#retryAfterMs(failure),
      note: this.#isQuotaExhausted ? quotaNote : undefined,
    });
  }

  /** Whether the call ends before another attempt could be made. */
  #isTooLate(failure: AttemptFailure, waitMs: number): boolean {
    const { deadlineAt, waits } = this.#scope;
    const leftMs = deadlineAt === undefined ? never : deadlineAt - this.#settings.clock.now();
    const pauseMs = this.#pauseMs(failure);
    return Math.max(waitMs, pauseMs) > leftMs || pauseMs > (waits?.waitLeftMs ?? never);
  }

  /** How long the failure pauses a limit. */
  #pauseMs(failure: AttemptFailure): number {
    const status = failure.response?.status;
    return status === 429 || status === 503 ? (this.#retryAfterMs(failure) ?? 0) : 0;
  }

  /** Spends the quota for a retry. Refusals by the limits, and background work, cost nothing. */
  #draw(failure: AttemptFailure): boolean {
    if (failure.response?.status === 429 || this.#scope.plan.priority === "background") return true;
    const cost = retryCost(failure.kind);
    this.#isQuotaExhausted = !this.#settings.quota.draw(cost);
    if (!this.#isQuotaExhausted) this.#drawn = cost;
    return !this.#isQuotaExhausted;
  }

  #retryAfterMs({ response }: AttemptFailure): number | undefined {
    return response && retryAfterMs(response.headers, this.#settings.clock.wallTime());
  }
}

/** Retries what may be retried, and ends the call with the last failure. */
export const retry = (settings: RetrySettings): Stage =>
  function retryStage(scope, request, next) {
    const attempts = new Attempts(scope, { request, next }, settings);
    if (scope.signal?.aborted) return Promise.reject(attempts.ending(scope.signal.reason));
    return attempts.make(repeat);
  };

/** Continues after a first failure, and creates the error of the last one. */
const repeat = async (failure: unknown, attempts: Attempts): Promise<HttpResponse> => {
  // Refused while it waited, maybe together with thousands of others: the executor creates the error.
  if (!(failure instanceof AttemptFailure)) throw failure;
  try {
    return await repeatAfter(failure, {
      again: (last) => attempts.again(last),
      work: () => attempts.makeAgain(),
    });
  } catch (last) {
    throw attempts.ending(last);
  }
};
