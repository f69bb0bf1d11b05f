import { type Cancel, type Clock, sleepOn, systemClock } from "../../../../src/clock.ts";

// How often a timer that came too early asks again.
const againMs = 20;

/**
 * The real clock, which knows its timers that have neither fired nor been undone. Timers of `heldMs` wait until the
 * service has stalled once more than they have fired: on a busy machine an attempt that is answered never times out.
 */
export class WatchedClock implements Clock {
  readonly #pending = new Set<object>();
  readonly #heldMs: number | undefined;
  readonly #stalled: () => number;
  #fired = 0;

  constructor(heldMs?: number, stalled: () => number = () => 0) {
    this.#heldMs = heldMs;
    this.#stalled = stalled;
  }

  get pending(): number {
    return this.#pending.size;
  }

  now(): number {
    return systemClock.now();
  }

  wallTime(): number {
    return systemClock.wallTime();
  }

  after(ms: number, callback: () => void, options?: { readonly idle?: boolean }): Cancel {
    const timer = {};
    this.#pending.add(timer);
    let cancel: Cancel;
    const arm = (delayMs: number): void => {
      cancel = systemClock.after(delayMs, fire, options);
    };
    const fire = (): void => {
      if (ms === this.#heldMs) {
        if (this.#stalled() <= this.#fired) return arm(againMs);
        this.#fired += 1;
      }
      this.#pending.delete(timer);
      callback();
    };
    arm(ms);
    return () => {
      this.#pending.delete(timer);
      cancel();
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }
}
