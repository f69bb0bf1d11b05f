import { isTouchpointError, type Outcome, TimeoutError } from "../errors.ts";
import { TotalTimeout } from "../http/types.ts";
import { whenAborted } from "../runtime/abort.ts";
import type { Clock } from "../runtime/clock.ts";

/** Whether any request of some work may have had its effect. */
export class Effect {
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
  readonly effect: Effect;
  readonly clock: Pick<Clock, "after">;
}

// What was under way is waited for, so that its effect counts; a callback or a store that hangs must not hold the end.
const settlingMs = 1_000;

/**
 * Runs work that ends by itself when its signal aborts, and makes the error of its deadline.
 *
 * @throws TimeoutError at the deadline; `outcome` speaks of all requests of the work.
 */
export const withinTotal = <T>(
  { operation, signal, effect, clock }: Bounded,
  work: () => Promise<T>,
): Promise<T> => {
  const late = (reason: TotalTimeout, attempts: number): TimeoutError => {
    const { outcome } = effect;
    const message = `${operation}: ${reason.message}, outcome ${outcome}.`;
    return new TimeoutError(message, { operation, attempts, outcome });
  };
  const ending = (error: unknown): unknown => {
    const reason: unknown = signal?.reason;
    if (!(reason instanceof TotalTimeout)) return error;
    if (error === reason) return late(reason, 0);
    return error instanceof TimeoutError ? late(reason, error.attempts) : error;
  };
  return new Promise((resolve, reject) => {
    let cancel: (() => void) | undefined;
    const release = whenAborted(signal, () => {
      const { reason } = signal ?? {};
      if (reason instanceof TotalTimeout) cancel = clock.after(settlingMs, () => reject(late(reason, 0)));
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
