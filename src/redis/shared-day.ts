import type { DayCount } from "../options/shared-limits.ts";
import { DailyLimit } from "../rate-limit/local-limits.ts";
import type { Clock } from "../runtime/clock.ts";

/** A day's count that many processes share: what the store said last, and what was used here since. */
export class SharedDay implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  #total = 0;
  #unreported = 0;
  /** What the store has heard of from here, in the last 24 hours. */
  #reported: DailyLimit;
  #freesAt = 0;
  #isDoubtful = false;

  constructor(name: string, max: number, clock: Clock) {
    this.name = name;
    this.max = max;
    this.#clock = clock;
    this.#reported = new DailyLimit(name, max, clock);
  }

  get used(): number {
    return this.#total + this.#unreported;
  }

  /** Whether `weight` fits; with the time at which more frees it may, and the store is asked before anything goes. */
  has(weight: number): boolean {
    if (this.used + weight <= this.max) return true;
    if (this.#freesAt > this.#clock.now()) return false;
    this.#isDoubtful = true;
    return true;
  }

  /** Whether somebody waits for what the store last said to be used up until now. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  add(weight: number): void {
    this.#unreported += weight;
  }

  freesInMs(): number {
    return Math.max(0, this.#freesAt - this.#clock.now());
  }

  /** What the store has not heard of. */
  get unreported(): number {
    return this.#unreported;
  }

  /** The store counted `reported` of this process and stands at `total`. */
  heard(reported: number, store: { readonly total: number; readonly freesInMs: number }): void {
    this.#unreported -= reported;
    this.#reported.add(reported);
    this.#total = store.total;
    this.#isDoubtful = false;
    this.#freesAt = this.#clock.now() + store.freesInMs;
  }

  /** The store has lost its counts: each process tells it again what it used itself. */
  forgotten(): void {
    this.#unreported += this.#reported.used;
    this.#reported = new DailyLimit(this.name, this.max, this.#clock);
  }
}
