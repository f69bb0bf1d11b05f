import { type Outcome, TimeoutError } from "../errors.ts";
import type { RetryNotice } from "../options/hooks.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Closing } from "./closing.ts";
import { errorFrom } from "./error-from.ts";
import { retryAfterMs } from "./retry-after.ts";
import { isUnclear, judge } from "./retry-policy.ts";
import {
  AttemptFailure,
  closedFailure,
  type HttpRequest,
  type HttpResponse,
  isWholeWithoutBody,
  outcomeOf,
  type Send,
  type Stage,
  TotalTimeout,
} from "./types.ts";

export interface RetrySettings {
  readonly maxRetryAfterMs: number;
  readonly clock: Clock;
  readonly closing: Closing;
  /** 0 ≤ random() < 1. */
  readonly random: () => number;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** One call's attempts: makes them, remembers whether any was unclear, decides about the next. */
class Attempts {
  readonly #request: HttpRequest;
  readonly #next: Send;
  readonly #settings: RetrySettings;

  constructor(request: HttpRequest, next: Send, settings: RetrySettings) {
    this.#request = request;
    this.#next = next;
    this.#settings = settings;
    request.log.closings ??= settings.closing.count;
  }

  /** Whether the client was closed since the call began. */
  get #isClosed(): boolean {
    return this.#settings.closing.count !== this.#request.log.closings;
  }

  async make(): Promise<HttpResponse> {
    if (this.#isClosed) throw closedFailure();
    const response = await this.#next(this.#request);
    const { status } = response;
    if (isSuccess(status)) {
      if (response.isJson || (response.text === "" && this.#request.mayBeEmpty)) return response;
      const what = response.text === "" ? "an empty body" : "a body that is not JSON";
      const kind = isWholeWithoutBody(response) ? "empty" : "broken";
      throw new AttemptFailure(kind, `status ${status} with ${what}`, { wasSent: true, response });
    }
    if (status === 404 && this.#request.log.isUnclear && this.#request.absentIsDone)
      return { ...response, status: 204, json: undefined };
    throw new AttemptFailure("status", `status ${status}`, { wasSent: true, response });
  }

  /** Resolves when it is time for another attempt; false when there is none. */
  async again(failure: unknown): Promise<boolean> {
    if (!(failure instanceof AttemptFailure)) return false;
    this.#request.log.isUnclear ||= isUnclear(this.#request.operation, failure);
    const verdict = judge(failure, {
      ...this.#request,
      attempts: this.#request.log.attempts,
      retryAfterMs: this.#retryAfterMs(failure),
      maxRetryAfterMs: this.#settings.maxRetryAfterMs,
      random: this.#settings.random(),
    });
    if (!verdict.again || this.#isClosed) return false;
    const { operation, log, signal } = this.#request;
    const { clock, closing } = this.#settings;
    const status = failure.response?.status;
    this.#settings.onRetry?.({ operation, attempt: log.attempts, waitMs: verdict.waitMs, status });
    // The hook may have closed the client.
    if (verdict.waitMs > 0 && !this.#isClosed) {
      const before = clock.now();
      log.onWait?.("retry");
      try {
        await closing.sleep(clock, verdict.waitMs, signal);
      } finally {
        log.onWait?.(undefined);
      }
      log.waitedMs += clock.now() - before;
    }
    return true;
  }

  /** The error that ends the call. */
  ending(failure: unknown): unknown {
    if (failure instanceof AttemptFailure && failure.kind !== "aborted") {
      return errorFrom(failure, this.#request, {
        outcome: this.#outcome,
        retryAfterMs: this.#retryAfterMs(failure),
      });
    }
    // An abort throws the signal's own reason, whatever it is; only the library's own deadline gets an error here.
    const reason = failure instanceof AttemptFailure ? failure.cause : failure;
    if (!(reason instanceof TotalTimeout)) return reason;
    if (failure instanceof AttemptFailure) this.#request.log.isUnclear ||= failure.wasSent;
    const { operation, log } = this.#request;
    const details = { operation, attempts: log.attempts, outcome: this.#outcome };
    return new TimeoutError(`${operation}: ${reason.message}, outcome ${this.#outcome}.`, details);
  }

  get #outcome(): Outcome {
    return outcomeOf(this.#request);
  }

  #retryAfterMs({ response }: AttemptFailure): number | undefined {
    return response && retryAfterMs(response.headers, this.#settings.clock.wallTime());
  }
}

/**
 * Repeats what may be repeated, and turns the last failure into the public error.
 *
 * p-retry runs the loop. It is loaded with the first failure, so that a call that succeeds pays nothing for it;
 * the wait happens in `shouldRetry`, which it awaits, because it has no other hook that can be cut short.
 */
export const retry =
  (settings: RetrySettings): Stage =>
  (next) =>
  async (request) => {
    const attempts = new Attempts(request, next, settings);
    try {
      let first: { readonly failure: unknown } | undefined;
      try {
        return await attempts.make();
      } catch (failure) {
        if (!(failure instanceof AttemptFailure)) throw failure;
        first = { failure };
      }
      const { default: pRetry } = await import("p-retry");
      const attempt = async (): Promise<HttpResponse> => {
        const already = first;
        first = undefined;
        if (already !== undefined) throw already.failure;
        try {
          return await attempts.make();
        } catch (failure) {
          if (failure instanceof AttemptFailure) throw failure;
          // p-retry makes a TypeError of anything that is no Error, and an abort's reason may be anything.
          throw new AttemptFailure("aborted", "ended above the transport", {
            wasSent: false,
            cause: failure,
          });
        }
      };
      return await pRetry(attempt, {
        // The policy counts: it alone knows what a 401 with a new key, or a maximum of 0, means.
        retries: Number.POSITIVE_INFINITY,
        minTimeout: 0,
        shouldRetry: ({ error }) => attempts.again(error),
      });
    } catch (failure) {
      throw attempts.ending(failure);
    }
  };
