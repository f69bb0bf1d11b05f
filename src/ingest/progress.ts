import type { Clock } from "../clock.ts";

/** How far long work has come. */
export interface Progress {
  readonly done: number;
  /** How much there is; undefined where nobody knows. */
  readonly total: number | undefined;
  /** Over the whole run so far. */
  readonly perSecond: number;
  /** Time left at that rate, in milliseconds; undefined without a total. */
  readonly etaMs: number | undefined;
  /** The limit that the work waits for at this moment. */
  readonly waitingFor: string | undefined;
}

const shortestGapMs = 100;

/** Reports progress at most ten times a second, and exactly at the end. */
export class ProgressReporter {
  readonly #report: ((progress: Progress) => void) | undefined;
  readonly #clock: Clock;
  readonly #total: number | undefined;
  #startedAt: number;
  #lastAt = Number.NEGATIVE_INFINITY;
  #doneBefore = 0;
  waitingFor: string | undefined;

  constructor(report: ((progress: Progress) => void) | undefined, total: number | undefined, clock: Clock) {
    this.#report = report;
    this.#total = total;
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** The first `done` were settled by an earlier run: they count as done, and not towards the rate. */
  skip(done: number): void {
    this.#doneBefore = done;
    this.#startedAt = this.#clock.now();
    this.update(done);
  }

  /** `done` counts everything, also what was skipped. */
  update(done: number, isEnd = false): void {
    const now = this.#clock.now();
    if (this.#report === undefined || (!isEnd && now - this.#lastAt < shortestGapMs)) return;
    this.#lastAt = now;
    const seconds = (now - this.#startedAt) / 1_000;
    const perSecond = seconds > 0 ? (done - this.#doneBefore) / seconds : 0;
    const left = this.#total === undefined ? undefined : Math.max(0, this.#total - done);
    const etaMs =
      left === 0 ? 0 : left === undefined || perSecond === 0 ? undefined : (left / perSecond) * 1_000;
    this.#report({ done, total: this.#total, perSecond, etaMs, waitingFor: this.waitingFor });
  }
}
