import { type Cancel, type Clock, sleepOn, systemClock } from "../../../../src/runtime/clock.ts";

// How often a timer that came too early asks again.
const againMs = 20;

// Both ends are in this process: what was written before the silence is read within a turn of the event loop or two.
const turnsToArrive = 4;

/** Which timers of a cell must not depend on how busy the machine is. */
export interface ClockRules {
  /** Timers of this length wait until the service has stalled once more than they have fired. */
  readonly heldMs?: number | undefined;
  readonly stalled?: (() => number) | undefined;
  /** Timers of this length never end by themselves. */
  readonly endlessMs?: number;
}

/**
 * The real clock, which knows its timers that have neither fired nor been undone. A timer that is held also waits for
 * what the service sent before it fell silent: on a busy machine an attempt that is answered never times out.
 */
export class WatchedClock implements Clock {
  readonly #pending = new Set<object>();
  readonly #rules: ClockRules;
  #fired = 0;

  constructor(rules: ClockRules) {
    this.#rules = rules;
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
    const { heldMs, stalled = () => 0, endlessMs } = this.#rules;
    if (ms === endlessMs) return () => this.#pending.delete(timer);
    let cancel: Cancel;
    let turns = 0;
    const arm = (delayMs: number): void => {
      cancel = systemClock.after(delayMs, fire, options);
    };
    const fire = (): void => {
      if (ms === heldMs) {
        turns = stalled() > this.#fired ? turns + 1 : 0;
        if (turns <= turnsToArrive) return arm(againMs);
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
