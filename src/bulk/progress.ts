import type { Waits } from "../call/request.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { IngestForecast } from "./forecast.ts";

/** The progress of long work. */
export interface Progress {
  /** The number of settled items, including those of an earlier run. */
  readonly done: number;
  /** The number of items; undefined if it is not known, for example for a stream. */
  readonly total: number | undefined;
  /** Items per second, over the entire run so far. */
  readonly perSecond: number;
  /** The remaining time at that rate, in milliseconds; undefined without a total, or while the rate is 0. */
  readonly etaMs: number | undefined;
  /**
   * What the work waits for now: the name of a limit (`requests`, `events`), `retry-after` for a pause that the service
   * requires, `retry` for the delay before a retry, `concurrency` for a free slot of the client, or `source` if nothing
   * is in flight and the source has no item yet. Otherwise undefined.
   */
  readonly waitingFor: string | undefined;
  /** How long the remaining events take within the limits; only for an ingestion with a known number of events. */
  readonly forecast?: IngestForecast | undefined;
}

const shortestGapMs = 100;

// The most specific reason has the lowest rank: -1 for retry-after, 0 for the name of a limit, 1 and 2 for these.
const leastSpecific = ["retry", "concurrency"];
const rankOf = (what: string): number => (what === "retry-after" ? -1 : leastSpecific.indexOf(what) + 1);

/** Reports progress at most ten times per second, and at the end. Requests report to `listener` what they wait for. */
export class ProgressReporter implements Waits {
  readonly #report: ((progress: Progress) => void) | undefined;
  readonly #clock: Clock;
  readonly #forecast: ((done: number) => IngestForecast) | undefined;
  /** The number of items, if known. */
  total: number | undefined;
  /** Whether the work waits only for its source. */
  waitsForSource: () => boolean = () => false;
  #startedAt: number;
  #lastAt = Number.NEGATIVE_INFINITY;
  #doneBefore = 0;
  #done = 0;
  #cancelLater: Cancel | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** What each request waits for. */
  readonly #waits = new Map<object, string>();

  constructor(
    report: ((progress: Progress) => void) | undefined,
    total: number | undefined,
    clock: Clock,
    forecast?: (done: number) => IngestForecast,
  ) {
    this.#forecast = forecast;
    this.#report = report;
    this.total = total;
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  get done(): number {
    return this.#done;
  }

  /** What the work waits for now. */
  get waitingFor(): string | undefined {
    const [first] = [...this.#waits.values()].sort((a, b) => rankOf(a) - rankOf(b));
    return first ?? (this.waitsForSource() ? "source" : undefined);
  }

  listener(): (what: string | undefined) => void {
    const request = {};
    return (what) => {
      this.#waits.delete(request);
      if (what === undefined) return;
      this.#waits.set(request, what);
      this.touch();
    };
  }

  /** Counts the first `done` items as settled by an earlier run. They don't count for the rate. */
  skip(done: number): void {
    this.#doneBefore = done;
    this.#startedAt = this.#clock.now();
    this.update(done);
  }

  /** Reports progress if a report is due. @param done - the number of all settled items, including skipped ones. */
  update(done: number, isEnd = false): void {
    this.#done = done;
    if (this.#failure !== undefined) throw this.#failure.error;
    const now = this.#clock.now();
    if (this.#report === undefined || (!isEnd && now - this.#lastAt < shortestGapMs)) return;
    this.stop();
    this.#lastAt = now;
    const seconds = (now - this.#startedAt) / 1_000;
    const perSecond = seconds > 0 ? (done - this.#doneBefore) / seconds : 0;
    const remaining = this.total === undefined ? undefined : Math.max(0, this.total - done);
    const etaMs =
      remaining === 0
        ? 0
        : remaining === undefined || perSecond === 0
          ? undefined
          : (remaining / perSecond) * 1_000;
    const forecast = this.#forecast?.(done);
    const progress = { done, total: this.total, perSecond, etaMs, waitingFor: this.waitingFor };
    this.#report(forecast === undefined ? progress : { ...progress, forecast });
  }

  /** Reports a possible change of `waitingFor`, at once or when the next report is due. */
  touch(): void {
    if (this.#report === undefined || this.#cancelLater !== undefined) return;
    const dueInMs = this.#lastAt + shortestGapMs - this.#clock.now();
    if (dueInMs <= 0) return this.#reportSafely();
    this.#cancelLater = this.#clock.after(dueInMs, () => this.#reportSafely(), { idle: true });
  }

  stop(): void {
    this.#cancelLater?.();
    this.#cancelLater = undefined;
  }

  // Runs inside requests and timers. If the callback throws, the next `update` throws its error and ends the run.
  #reportSafely(): void {
    this.stop();
    try {
      this.update(this.#done);
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}
