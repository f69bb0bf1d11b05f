// Load this module before the test: the library imports it during work, and the fake time would move while it loads.
import "bottleneck/light.js";
import { type Cancel, type Clock, sleepOn } from "../../src/runtime/clock.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Runs everything that is ready: promise reactions, and callbacks of the next turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that a test moves by hand. `now()` starts at 0. */
export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #startedAt: number;
  #now = 0;
  #order = 0;

  constructor(startedAt = Date.parse("2026-03-01T12:00:00.000Z")) {
    this.#startedAt = startedAt;
  }

  now(): number {
    return this.#now;
  }

  wallTime(): number {
    return this.#startedAt + this.#now;
  }

  after(ms: number, callback: () => void): Cancel {
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds to the next timer, or undefined if there is none. */
  get nextInMs(): number | undefined {
    const next = this.#next();
    return next && next.at - this.#now;
  }

  /** Moves time forward. Each timer fires at its due time, and its effects run before the next timer. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await turn();
    for (let next = this.#next(); next !== undefined && next.at <= until; next = this.#next()) {
      this.#fire(next);
      await turn();
    }
    this.#now = until;
  }

  /** Moves from timer to timer until the promise settles. The promise must depend on this clock only. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (await turn(); !isSettled; await turn()) {
      const next = this.#next();
      if (next !== undefined) this.#fire(next);
    }
    return promise;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.callback();
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      const isEarlier = first === undefined || timer.at < first.at;
      if (isEarlier || (timer.at === first?.at && timer.order < first.order)) first = timer;
    }
    return first;
  }
}
