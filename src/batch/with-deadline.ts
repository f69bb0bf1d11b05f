import { isTouchpointError, type Outcome, TimeoutError } from "../errors.ts";
import { abortError, DeadlineExceeded, whenAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";

/** Whether any request of some work may have had its effect. */
export class EffectTracker {
  #isPossible = false;

  /** Watches one request. */
  async of<T>(request: Promise<T>): Promise<T> {
    try {
      const answer = await request;
      this.#isPossible = true;
      return answer;
    } catch (error) {
      // An abort's reason says nothing of what was under way.
      this.#isPossible ||= !isTouchpointError(error) || error.outcome === "unknown";
      throw error;
    }
  }

  get outcome(): Outcome {
    return this.#isPossible ? "unknown" : "not-applied";
  }
}

/** Work of several requests, and what ends it. */
export interface Bounded {
  /** Of the work, for its errors. */
  readonly operation: string;
  /** Aborts at the work's deadline; everything it waits for ends with it. */
  readonly signal: AbortSignal | undefined;
  readonly effect: EffectTracker;
  readonly clock: Pick<Clock, "after">;
}

// What was under way is waited for, so that its effect counts; a callback or a store that hangs must not hold the end.
const settlingMs = 1_000;

/**
 * Runs work that ends by itself when its signal aborts, and makes the error of its deadline.
 *
 * @throws TimeoutError at the deadline; `outcome` speaks of all requests of the work.
 */
export const withDeadline = <T>(
  { operation, signal, effect, clock }: Bounded,
  work: () => Promise<T>,
): Promise<T> => {
  const endOf = (attempts: number): unknown =>
    abortError(signal?.reason, { operation, attempts, outcome: effect.outcome });
  const ending = (error: unknown): unknown => {
    if (signal === undefined || !signal.aborted) return error;
    if (error === signal.reason) return endOf(0);
    const isLate = signal.reason instanceof DeadlineExceeded && error instanceof TimeoutError;
    return isLate ? endOf(error.attempts) : error;
  };
  return new Promise((resolve, reject) => {
    let cancel: (() => void) | undefined;
    const release = whenAborted(signal, () => {
      if (signal?.reason instanceof DeadlineExceeded)
        cancel = clock.after(settlingMs, () => reject(endOf(0)));
    });
    const settle = (end: () => void): void => {
      cancel?.();
      release();
      end();
    };
    work().then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(ending(error))),
    );
  });
};
