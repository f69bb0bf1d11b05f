import type { FailureKind } from "./types.ts";

const capacity = 500;
const costOfRepeat = 5;
// A service that answers nothing is worse off than one that answers with an error.
const costAfterTimeout = 10;
const refillOfFirstAttempt = 1;

/** What a repeat after a failure of this kind draws from the quota. */
export const retryCost = (kind: FailureKind): number =>
  kind === "timeout" ? costAfterTimeout : costOfRepeat;

/**
 * Bounds the repeats of all calls together, so that an outage does not multiply the traffic: repeats draw on it, and
 * successes refill it, with the numbers of the AWS SDKs' standard mode.
 */
export class RetryQuota {
  #left = capacity;

  /** Whether a repeat fits that costs so much. */
  has(cost = costOfRepeat): boolean {
    return this.#left >= cost;
  }

  /** False when the repeat has to stay undone. */
  draw(cost: number): boolean {
    if (!this.has(cost)) return false;
    this.#left -= cost;
    return true;
  }

  /** A call has succeeded, by a repeat that drew so much, or at its first attempt (0). */
  refill(drawn: number): void {
    this.#left = Math.min(capacity, this.#left + (drawn || refillOfFirstAttempt));
  }
}
