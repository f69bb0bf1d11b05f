/// <reference path="./bottleneck-light.d.ts" />
import type { DayCount, PermitHolder, PermitSource } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";

const loadBottleneck = async (max: number) => {
  const { default: Bottleneck } = await import("bottleneck/light");
  return new Bottleneck({ maxConcurrent: max });
};

/**
 * Permits of one process: a bottleneck limiter in which a running job is a lease.
 *
 * A job per call would cost several times as much as the call, so a job leases a block, and the budget hands the
 * permits out one by one. No other process uses the budget, so a block is available at once and its job follows. No
 * call waits for bottleneck, which is loaded after a response; a script with a few calls never loads it.
 */
export class LocalPermits implements PermitSource {
  readonly isShared = false;
  readonly isValid = true;
  readonly lost = undefined;
  readonly usedElsewhere = 0;
  readonly initial: number;
  readonly #max: number;
  readonly #block: number;
  readonly #ends: (() => void)[] = [];
  #limiter: ReturnType<typeof loadBottleneck> | undefined;
  /** Permits in hand whose job has not started. */
  #unleased: number;
  #isClosed = false;
  #holder: PermitHolder | undefined;

  constructor(max: number) {
    this.#max = max;
    this.#block = Math.ceil(max / 20);
    this.initial = Math.min(max, Math.max(this.#block, 25));
    this.#unleased = this.initial;
  }

  attach(holder: PermitHolder): void {
    this.#holder = holder;
  }

  want(): void {
    const holder = this.#holder;
    if (holder === undefined || holder.leased >= this.#max) return;
    const count = Math.min(Math.max(holder.lacking, this.#block), this.#max - holder.leased);
    this.#unleased += count;
    if (this.#limiter !== undefined) void this.#lease();
    holder.grant(count);
  }

  paused(): void {}

  used(): void {}

  settled(): void {
    if (this.#limiter !== undefined || this.#unleased === this.initial) return;
    this.#limiter = loadBottleneck(this.#max);
    void this.#lease();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#ends.splice(0)) end();
  }

  /** Starts a job, which runs until `close`, for all permits without one. */
  async #lease(): Promise<void> {
    const limiter = await this.#limiter;
    const weight = this.#unleased;
    this.#unleased = 0;
    // bottleneck uses timers: a lease that starts after the end would keep the process alive.
    if (weight === 0 || this.#isClosed) return;
    const job = (): Promise<void> => new Promise((end) => this.#ends.push(end));
    void limiter?.schedule({ weight }, job);
  }
}

/** All permits of a limit, from the start. */
export const fixedPermits = (initial: number): PermitSource => ({
  initial,
  isShared: false,
  isValid: true,
  lost: undefined,
  usedElsewhere: 0,
  attach: () => undefined,
  want: () => undefined,
  paused: () => undefined,
  used: () => undefined,
  close: async () => undefined,
});

const dayMs = 86_400_000;
const slotMs = 60_000;

/**
 * Counts a day's use by the minute. The document does not say when a day starts, so the limit applies to any 24 hours;
 * this satisfies every reading of it.
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

  /** A negative weight returns what was not used. */
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

  // Counted in one of the last minutes; a minute below zero would return what others used.
  #takeBack(weight: number): void {
    let left = weight;
    for (const [slot, count] of [...this.#slots].reverse()) {
      const part = Math.min(left, count);
      this.#slots.set(slot, count - part);
      left -= part;
      if (left === 0) return;
    }
    // It was counted a day ago and is forgotten.
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
