import { isTouchpointError, type Outcome, TimeoutError, TouchpointError } from "../errors.ts";
import { abortError, DeadlineExceeded, whenAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";

/** Tracks whether any request of some work may have taken effect. */
export class EffectTracker {
  #isPossible = false;

  /** Tracks one request. `hasEffect`: whether a successful one had an effect. */
  async of<T>(request: Promise<T>, hasEffect: (answer: T) => boolean = () => true): Promise<T> {
    try {
      const answer = await request;
      this.#isPossible ||= hasEffect(answer);
      return answer;
    } catch (error) {
      // The reason of an abort does not say what was in flight.
      this.#isPossible ||= !isTouchpointError(error) || error.outcome === "unknown";
      throw error;
    }
  }

  get outcome(): Outcome {
    return this.#isPossible ? "unknown" : "not-applied";
  }
}

/** Work with several requests, and its signal. */
export interface Bounded {
  /** The operation, for error messages. */
  readonly operation: string;
  /** Aborts at the work's deadline, with everything that the work waits for. */
  readonly signal: AbortSignal | undefined;
  readonly effect: EffectTracker;
  readonly clock: Pick<Clock, "after">;
}

// Requests in flight are awaited, so that their effect counts; but a callback or a store that hangs must not block the
// end.
const settlingMs = 1_000;

const makeUnknown = (error: TouchpointError): void => {
  // Read-only for users. It is set here, like `partial`, because only the work knows all of its requests.
  (error as { outcome: Outcome }).outcome = "unknown";
  // The message of a closed client names the outcome.
  const [said, is] = ["outcome not-applied", "outcome unknown"];
  error.message = error.message.replace(said, is);
  if (error.stack !== undefined) error.stack = error.stack.replace(said, is);
};

/**
 * Runs work that ends when its signal aborts, and creates the error of its deadline. The `outcome` of an error covers all
 * requests of the work.
 *
 * @throws TimeoutError at the deadline.
 */
export const withDeadline = <T>(
  { operation, signal, effect, clock }: Bounded,
  work: () => Promise<T>,
): Promise<T> => {
  const endOf = (attempts: number): unknown =>
    abortError(signal?.reason, { operation, attempts, outcome: effect.outcome });
  const ending = (error: unknown): unknown => {
    if (signal?.aborted) {
      if (error === signal.reason) return endOf(0);
      const isLate = signal.reason instanceof DeadlineExceeded && error instanceof TimeoutError;
      if (isLate) return endOf(error.attempts);
    }
    // The failed request had no effect; an earlier one may have had one, and the outcome is about the whole work.
    if (error instanceof TouchpointError && effect.outcome === "unknown") makeUnknown(error);
    return error;
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
