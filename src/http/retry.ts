import type { RetryNotice } from "../options/hooks.ts";
import type { Clock } from "../runtime/clock.ts";
import { pauseMsOf } from "../runtime/headers.ts";
import { errorFrom } from "./error-from.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { repeatAfter } from "./retry-loop.ts";
import { judge, mayHaveTakenEffect } from "./retry-policy.ts";
import {
  AttemptFailure,
  type CallView,
  type FailureNotes,
  type Plan,
  type Send,
  type Sending,
  type Stage,
} from "./types.ts";

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

/** The quota that a retry spends. A retry after a 429, or of background work, spends none. */
const costOf = ({ kind, response }: AttemptFailure, { priority }: Plan): number => {
  if (response?.status === 429 || priority === "background") return 0;
  return kind === "timeout" ? costAfterTimeout : costOfRepeat;
};

/** Whether the call ends before an attempt after this wait and this pause of a limit could start. */
const isTooLate = (
  { deadlineAt = never, waitsEndAt = never, waitLeftMs = never }: CallView,
  now: number,
  { waitMs, pauseMs }: { readonly waitMs: number; readonly pauseMs: number },
): boolean => Math.max(waitMs, pauseMs) > Math.min(deadlineAt, waitsEndAt) - now || pauseMs > waitLeftMs;

/** What each attempt sends, and the stage that sends it. */
interface Forward {
  readonly sending: Sending;
  readonly request: HttpRequest;
  readonly next: Send;
}

/**
 * Makes the second and later attempts of a request. Records whether any attempt may have taken effect, and decides
 * whether to make another one.
 */
const retryAfter = async (
  first: AttemptFailure,
  { sending, request, next }: Forward,
  { maxRetryAfterMs, clock, quota, random, onRetry }: RetrySettings,
): Promise<HttpResponse> => {
  const { operation, plan, call } = sending;
  let hasRenewedKey = false;
  // The cost of the last retry that spent quota; 0 if none did.
  let drawn = 0;
  let notes: FailureNotes = {};
  const work = async (): Promise<HttpResponse> => {
    // Each attempt gets a new object, because the stages write to it.
    const accepted = accept(sending, await next(sending, { ...request }));
    if (accepted instanceof AttemptFailure) throw accepted;
    call.attempted(accepted);
    quota.refill(drawn);
    return accepted;
  };
  /** Waits until the next attempt is due. Resolves with false if there is no next attempt. */
  const again = async (failure: unknown): Promise<boolean> => {
    // An error that is not an AttemptFailure was thrown before the attempt.
    if (!(failure instanceof AttemptFailure)) return false;
    const { kind, response } = failure;
    // A requeued request was not sent, so it doesn't count as an attempt. The limits make it wait again.
    if (kind === "requeued") return !call.signal?.aborted;
    call.attempted();
    if (plan.replay !== "safe" && mayHaveTakenEffect(operation, failure)) call.noteEffect();
    const { attempts } = call;
    const { retryAfterMs, status } = response ?? {};
    notes = { retryAfterMs };
    const canRenewKey = response?.canRenewKey === true && !hasRenewedKey;
    hasRenewedKey ||= canRenewKey;
    const situation = { ...plan, operation, attempts, canRenewKey, maxRetryAfterMs, random: random() };
    const waitMs = judge(failure, situation);
    const pauseMs = (response && pauseMsOf(response)) ?? 0;
    if (waitMs === undefined || call.signal?.aborted) return false;
    if (isTooLate(call, clock.now(), { waitMs, pauseMs })) return false;
    const cost = canRenewKey ? 0 : costOf(failure, plan);
    if (!quota.draw(cost)) {
      notes = { retryAfterMs, note: quotaNote };
      return false;
    }
    drawn = cost || drawn;
    onRetry?.({ operation: operation.id, attempt: attempts, waitMs: Math.max(waitMs, pauseMs), status });
    if (waitMs > 0) await call.backOff(waitMs, "retry", plan.onWait);
    call.signal?.throwIfAborted();
    return true;
  };
  try {
    return await repeatAfter(first, { again, work });
  } catch (last) {
    throw errorFrom(last, sending, {
      wallTime: clock.wallTime(),
      ...(last instanceof AttemptFailure && notes),
    });
  }
};

/** Retries failed attempts if the policy allows it. Otherwise, ends the call with the last failure. */
export const retry = (settings: RetrySettings): Stage =>
  function retryStage(sending, request, next) {
    const { call } = sending;
    if (call.signal?.aborted) {
      const wallTime = settings.clock.wallTime();
      return Promise.reject(errorFrom(call.signal.reason, sending, { wallTime }));
    }
    const repeat = (failure: unknown): Promise<HttpResponse> => {
      // An error that is not an AttemptFailure was thrown before an attempt. Pass it on without further work, because
      // thousands of waiting requests may be refused at once. The executor creates the public error.
      if (!(failure instanceof AttemptFailure)) throw failure;
      return retryAfter(failure, { sending, request, next }, settings);
    };
    // Not an async function, because its frame would take half of the memory of a call that waits for a limit.
    return next(sending, request).then(function answered(response) {
      const accepted = accept(sending, response);
      if (accepted instanceof AttemptFailure) return repeat(accepted);
      call.attempted(accepted);
      settings.quota.refill(0);
      return accepted;
    }, repeat);
  };
