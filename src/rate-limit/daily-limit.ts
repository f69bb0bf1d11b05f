import type { DayCount } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import { chargedSlots, currentSlots, type DaySlots, slotsFreeInMs, sumOfSlots } from "./day.ts";

const never = Number.POSITIVE_INFINITY;
// No two clocks run equally fast: in a day, a wall clock that is corrected step by step gains up to 43 s.
const leastSleepMs = 60_000;

/**
 * Counts a day's use in this process.
 *
 * The client's clock stands still while the machine sleeps. What the wall clock goes on beyond it counts as time, too; a
 * wall clock that is set back takes only that time back.
 */
export class DailyLimit implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  /** How far the wall clock was ahead of the client's clock at the start. */
  readonly #startGapMs: number;
  #slots: DaySlots = [];
  #used = 0;

  constructor(name: string, max: number, clock: Clock) {
    this.name = name;
    this.max = max;
    this.#clock = clock;
    this.#startGapMs = clock.wallTime() - clock.now();
  }

  get used(): number {
    const slots = currentSlots(this.#slots, this.#now());
    if (slots !== this.#slots) this.#used = sumOfSlots(slots);
    this.#slots = slots;
    return this.#used;
  }

  has(weight: number): boolean {
    return this.#used + weight <= this.max || this.used + weight <= this.max;
  }

  /** A negative weight returns what was not used. */
  add(weight: number): void {
    if (this.max === never) return;
    this.#slots = chargedSlots(this.#slots, this.#now(), weight);
    this.#used = weight > 0 ? this.#used + weight : sumOfSlots(this.#slots);
  }

  /** How long until `weight` more fits. */
  resetsInMs(weight: number): number {
    return slotsFreeInMs(this.#slots, this.#now(), weight - (this.max - this.used));
  }

  #now(): number {
    const now = this.#clock.now();
    const sleptMs = this.#clock.wallTime() - now - this.#startGapMs;
    return sleptMs > leastSleepMs ? now + sleptMs - leastSleepMs : now;
  }
}
