import type { RetryNotice } from "../options/hooks.ts";
import type { Clock } from "../runtime/clock.ts";
import { pauseMsOf } from "../runtime/headers.ts";
import { errorFrom } from "./error-from.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { repeatAfter } from "./retry-loop.ts";
import { judge, mayHaveTakenEffect } from "./retry-policy.ts";
import { AttemptFailure, type FailureNotes, type Send, type Sending, type Stage } from "./types.ts";

const capacity = 500;
const costOfRepeat = 5;
// A service that does not respond is in a worse state than one that responds with an error.
const costAfterTimeout = 10;
const refillIfNoneDrawn = 1;

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

  /** Spends quota for a retry. Returns false if the retry is not allowed. */
  draw(cost = costOfRepeat): boolean {
    if (!this.has(cost)) return false;
    this.#left -= cost;
    return true;
  }

  /**
   * Refills the quota after a successful call.
   *
   * @param drawn - the cost of the call's last retry that spent quota; 0 if none did, for example without a retry.
   */
  refill(drawn: number): void {
    this.#left = Math.min(capacity, this.#left + (drawn || refillIfNoneDrawn));
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

/** Whether a text body says only that the request succeeded, and so tells no more than an empty body. */
const isBareSuccess = (text: string): boolean =>
  /^\s*(ok(ay)?|done|success(ful)?|accepted|created|updated|deleted|removed|cancell?ed|no content)?[.!]?\s*$/i.test(
    text,
  );

/** Returns the response if it is a success; otherwise the reason why it is not. */
const accept = ({ operation, call }: Sending, response: HttpResponse): HttpResponse | AttemptFailure => {
  const { status } = response;
  if (status >= 200 && status < 300) {
    if (response.isJson) return response;
    if (operation.mayBeEmpty && isBareSuccess(response.text)) return response;
    const what = response.text === "" ? "an empty body" : "a body that is not JSON";
    return new AttemptFailure("broken", `status ${status} with ${what}`, { wasSent: true, response });
  }
  if (status === 404 && call.mayHaveTakenEffect && operation.notFoundMeansDone) {
    call.noteGone();
    return { ...response, status: 204, json: undefined };
  }
  return new AttemptFailure("status", `status ${status}`, { wasSent: true, response });
};

/**
 * The second and later attempts of a request. Records whether any attempt may have taken effect, and decides
 * whether to make another one.
 */
class Retries {
  readonly #sending: Sending;
  /** What each attempt sends, and the stage that sends it. */
  readonly #forward: { readonly request: HttpRequest; readonly next: Send };
  readonly #settings: RetrySettings;
  #hasRenewedKey = false;
  /** The cost of the last retry that spent quota; 0 if none did. */
  #drawn = 0;
  /** The facts to add to the error of the last failure. */
  #notes: FailureNotes | undefined;

  constructor(
    sending: Sending,
    forward: { readonly request: HttpRequest; readonly next: Send },
    settings: RetrySettings,
  ) {
    this.#sending = sending;
    this.#forward = forward;
    this.#settings = settings;
  }

  /** Retries the request after its first failure. */
  async after(failure: unknown): Promise<HttpResponse> {
    // An error that is not an AttemptFailure was thrown before an attempt. Pass it on without further work, because
    // thousands of waiting requests may be refused at once. The executor creates the public error.
    if (!(failure instanceof AttemptFailure)) throw failure;
    try {
      const again = (last: unknown): Promise<boolean> => this.#again(last);
      return await repeatAfter(failure, { again, work: () => this.#attempt() });
    } catch (last) {
      const notes = last instanceof AttemptFailure ? this.#notes : undefined;
      throw errorFrom(last, this.#sending, { wallTime: this.#settings.clock.wallTime(), ...notes });
    }
  }

  async #attempt(): Promise<HttpResponse> {
    const { request, next } = this.#forward;
    // Each attempt gets a new object, because the stages write to it.
    const accepted = accept(this.#sending, await next(this.#sending, { ...request }));
    if (accepted instanceof AttemptFailure) throw accepted;
    this.#sending.call.attempted(accepted);
    this.#settings.quota.refill(this.#drawn);
    return accepted;
  }

  /** Waits until the next attempt is due. Resolves with false if there is no next attempt. */
  async #again(failure: unknown): Promise<boolean> {
    // An error that is not an AttemptFailure was thrown before the attempt.
    if (!(failure instanceof AttemptFailure)) return false;
    const { operation, plan, call } = this.#sending;
    const { signal } = call;
    const { kind, response } = failure;
    // A requeued request was not sent, so it doesn't count as an attempt. The limits make it wait again.
    if (kind === "requeued") return !signal?.aborted;
    call.attempted();
    if (plan.replay !== "safe" && mayHaveTakenEffect(operation, failure)) call.noteEffect();
    const { maxRetryAfterMs, random, onRetry } = this.#settings;
    const retryAfterMs = response?.retryAfterMs;
    this.#notes = { retryAfterMs };
    const canRenewKey = response?.canRenewKey === true && !this.#hasRenewedKey;
    this.#hasRenewedKey ||= canRenewKey;
    const verdict = judge(failure, {
      operation,
      replay: plan.replay,
      maxRetries: plan.maxRetries,
      attempts: call.attempts,
      canRenewKey,
      retryAfterMs,
      maxRetryAfterMs,
      random: random(),
    });
    const status = response?.status;
    /** The time for which the failure pauses a limit. */
    const pauseMs = (response && pauseMsOf(response)) ?? 0;
    if (!verdict.again || signal?.aborted || this.#isTooLate(verdict.waitMs, pauseMs)) return false;
    if (!canRenewKey && !this.#draw(failure)) {
      this.#notes = { retryAfterMs, note: quotaNote };
      return false;
    }
    const waitMs = Math.max(verdict.waitMs, pauseMs);
    onRetry?.({ operation: operation.id, attempt: call.attempts, waitMs, status });
    if (verdict.waitMs > 0) await call.backOff(verdict.waitMs, "retry", plan.onWait);
    signal?.throwIfAborted();
    return true;
  }

  /** Whether the call ends before the next attempt could start. */
  #isTooLate(waitMs: number, pauseMs: number): boolean {
    const { deadlineAt = never, waitsEndAt = never, waitLeftMs = never } = this.#sending.call;
    const leftMs = Math.min(deadlineAt, waitsEndAt) - this.#settings.clock.now();
    return Math.max(waitMs, pauseMs) > leftMs || pauseMs > waitLeftMs;
  }

  /** Spends quota for a retry. A retry after a 429, or of background work, spends none. */
  #draw({ kind, response }: AttemptFailure): boolean {
    if (response?.status === 429 || this.#sending.plan.priority === "background") return true;
    const cost = kind === "timeout" ? costAfterTimeout : costOfRepeat;
    if (!this.#settings.quota.draw(cost)) return false;
    this.#drawn = cost;
    return true;
  }
}

/** Retries failed attempts if the policy allows it. Otherwise, ends the call with the last failure. */
export const retry = (settings: RetrySettings): Stage =>
  function retryStage(sending, request, next) {
    const { call } = sending;
    if (call.signal?.aborted) {
      const wallTime = settings.clock.wallTime();
      return Promise.reject(errorFrom(call.signal.reason, sending, { wallTime }));
    }
    const repeat = (failure: unknown): Promise<HttpResponse> =>
      new Retries(sending, { request, next }, settings).after(failure);
    // Not an async function, because its frame would take half of the memory of a call that waits for a limit.
    return next(sending, request).then(function answered(response) {
      const accepted = accept(sending, response);
      if (accepted instanceof AttemptFailure) return repeat(accepted);
      call.attempted(accepted);
      settings.quota.refill(0);
      return accepted;
    }, repeat);
  };
