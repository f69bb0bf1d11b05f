import type { Clock } from "../runtime/clock.ts";
import { headerOf, type RawHeaders } from "./types.ts";

// Half of what a skewed clock drifts in a minute is far below the second that a Date header can tell.
const shortestGapMs = 1_000;
// A clock that was set back shows as answers that are earlier than thought by more than their rounding.
const roundingMs = 2_000;

/**
 * The service's clock, as its answers tell it in `Date`: never later than it really is, and at most about a second
 * earlier.
 */
export class ServiceTime {
  readonly #clock: Clock;
  #aheadMs: number | undefined;
  #notedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of an answer's headers. */
  note(headers: RawHeaders): void {
    const now = this.#clock.now();
    if (now - this.#notedAt < shortestGapMs) return;
    const date = Date.parse(headerOf(headers, "date") ?? "");
    if (Number.isNaN(date)) return;
    this.#notedAt = now;
    const aheadMs = date - this.#clock.wallTime();
    // Each answer tells a lower bound; the highest is the closest.
    const isSetBack = this.#aheadMs !== undefined && aheadMs < this.#aheadMs - roundingMs;
    this.#aheadMs = this.#aheadMs === undefined || isSetBack ? aheadMs : Math.max(this.#aheadMs, aheadMs);
  }

  /** Milliseconds since 1970; undefined until an answer has told. */
  now(): number | undefined {
    return this.#aheadMs === undefined ? undefined : this.#clock.wallTime() + this.#aheadMs;
  }
}
