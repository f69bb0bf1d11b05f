import type { DayCount } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";

const dayMs = 86_400_000;
const slotMs = 60_000;

/**
 * Counts a day's use by the minute. The document does not say when a day begins, so any 24 hours count: that
 * keeps every reading of it.
 */
export class DailyLimit implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  readonly #slots = new Map<number, number>();
  #used = 0;

  constructor(name: string, max: number, clock: Clock) {
    this.name = name;
    this.max = max;
    this.#clock = clock;
  }

  get used(): number {
    this.#forget();
    return this.#used;
  }

  has(weight: number): boolean {
    return this.used + weight <= this.max;
  }

  /** A negative weight takes back what was not used after all. */
  add(weight: number): void {
    this.#used += weight;
    if (weight < 0) return this.#takeBack(-weight);
    const slot = this.#slot;
    this.#slots.set(slot, (this.#slots.get(slot) ?? 0) + weight);
  }

  /** How long until `weight` more fits. */
  freesInMs(weight: number): number {
    let left = this.max - this.used;
    for (const [slot, count] of this.#slots) {
      if (left >= weight) break;
      left += count;
      if (left >= weight) return (slot + 1) * slotMs + dayMs - this.#clock.now();
    }
    return 0;
  }

  get #slot(): number {
    return Math.floor(this.#clock.now() / slotMs);
  }

  // Counted in one of the last minutes; a minute below nothing would give back what others used.
  #takeBack(weight: number): void {
    let left = weight;
    for (const [slot, count] of [...this.#slots].reverse()) {
      const part = Math.min(left, count);
      this.#slots.set(slot, count - part);
      left -= part;
      if (left === 0) return;
    }
    // It was counted a day ago, and is forgotten.
    this.#used += left;
  }

  #forget(): void {
    const oldest = this.#clock.now() - dayMs;
    for (const [slot, count] of this.#slots) {
      if ((slot + 1) * slotMs > oldest) break;
      this.#slots.delete(slot);
      this.#used -= count;
    }
  }
}
