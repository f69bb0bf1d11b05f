import type { DayCount } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";

const dayMs = 86_400_000;
const slotMs = 60_000;
// A day whose every minute is used is kept in slots of 36 minutes, a fortieth of it, so that a key takes little memory.
const coarseMinutes = 36;
const mostSlots = 42;

/** If there are too many slots, the oldest two in the same 36 minutes become one, as if all was used at their end. */
const merged = (slots: number[]): number[] => {
  if (slots.length <= mostSlots * 2) return slots;
  const coarse = (at: number): number => Math.floor((slots[at] ?? 0) / coarseMinutes);
  for (let at = 2; at < slots.length; at += 2) {
    if (coarse(at - 2) !== coarse(at)) continue;
    const count = (slots[at - 1] ?? 0) + (slots[at + 1] ?? 0);
    return [...slots.slice(0, at - 2), slots[at] ?? 0, count, ...slots.slice(at + 2)];
  }
  return slots;
};

/**
 * Counts a day's use by the minute; if nearly all day is used, by 36 minutes. The document does not say when a day
 * starts, so the limit applies to any 24 hours; this satisfies every reading of it.
 */
export class DailyLimit implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  /** The last minute of each slot, oldest first, each followed by what was counted in it. */
  #slots: number[] = [];
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
    this.#forget();
    return this.#used + weight <= this.max;
  }

  /** A negative weight returns what was not used. */
  add(weight: number): void {
    if (this.max === Number.POSITIVE_INFINITY) return;
    this.#used += weight;
    if (weight < 0) return this.#takeBack(-weight);
    const minute = Math.floor(this.#clock.now() / slotMs);
    const { length } = this.#slots;
    if (this.#slots[length - 2] === minute) this.#slots[length - 1] = (this.#slots[length - 1] ?? 0) + weight;
    else this.#slots = merged([...this.#slots, minute, weight]);
  }

  /** How long until `weight` more fits. */
  resetsInMs(weight: number): number {
    let left = this.max - this.used;
    for (let at = 0; left < weight && at < this.#slots.length; at += 2) {
      left += this.#slots[at + 1] ?? 0;
      if (left >= weight) return this.#endOf(at) + dayMs - this.#clock.now();
    }
    return 0;
  }

  #endOf(at: number): number {
    return ((this.#slots[at] ?? 0) + 1) * slotMs;
  }

  // Counted in one of the last minutes; a minute below zero would return what others used.
  #takeBack(weight: number): void {
    let left = weight;
    const slots = this.#slots;
    for (let at = slots.length - 1; at > 0 && left > 0; at -= 2) {
      const count = slots[at] ?? 0;
      const part = Math.min(left, count);
      slots[at] = count - part;
      left -= part;
    }
    // It was counted a day ago and is forgotten.
    this.#used += left;
  }

  #forget(): void {
    // A minute counts until a day after its end.
    const oldest = Math.floor((this.#clock.now() - dayMs) / slotMs);
    let gone = 0;
    while ((this.#slots[gone] ?? oldest) < oldest) {
      this.#used -= this.#slots[gone + 1] ?? 0;
      gone += 2;
    }
    if (gone > 0) this.#slots = this.#slots.slice(gone);
  }
}
