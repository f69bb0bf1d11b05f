import type { Clock } from "../clock.ts";
import type { Day } from "../sharing.ts";

/** A day's count that many processes share: what the store said last, and what was used here since. */
export class SharedDay implements Day {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  #total = 0;
  #unreported = 0;
  #reported = 0;
  #freesAt = 0;

  constructor(name: string, max: number, clock: Clock) {
    this.name = name;
    this.max = max;
    this.#clock = clock;
  }

  get used(): number {
    return this.#total + this.#unreported;
  }

  has(weight: number): boolean {
    return this.used + weight <= this.max;
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
    this.#reported += reported;
    this.#total = store.total;
    this.#freesAt = this.#clock.now() + store.freesInMs;
  }

  /** The store has lost its counts: each process tells it again what it used itself. */
  forgotten(): void {
    this.#unreported += this.#reported;
    this.#reported = 0;
  }
}
