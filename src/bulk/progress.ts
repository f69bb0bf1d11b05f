import type { Waits } from "../call/request.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { IngestForecast } from "./forecast.ts";

/** The progress of long work. */
export interface Progress {
  /** Items settled, including those of an earlier run. */
  readonly done: number;
  /** The number of items, if the source is an array; otherwise undefined. */
  readonly total: number | undefined;
  /** Items per second, over the whole run so far. */
  readonly perSecond: number;
  /** The time left at that rate, in milliseconds; undefined without a total, or while the rate is 0. */
  readonly etaMs: number | undefined;
  /**
   * What the work waits for now: a limit by its name (`requests`, `events`), `retry-after` during a pause that the
   * service asked for, `retry` for a back-off, `concurrency` for a free slot of the client, `source` if nothing is in
   * flight and the source has no item yet. Undefined while requests are in flight.
   */
  readonly waitingFor: string | undefined;
  /** For an ingestion with a known number of events: how long the remaining events take at the limits. */
  readonly forecast?: IngestForecast | undefined;
}

const shortestGapMs = 100;

// The most specific reason first; all other reasons are names of limits, and come after a pause.
const after = ["retry", "concurrency"];
const rankOf = (what: string): number => (what === "retry-after" ? -1 : after.indexOf(what) + 1);

/** Reports progress at most ten times per second, and exactly at the end; its requests tell it what they wait for. */
export class ProgressReporter implements Waits {
  readonly #report: ((progress: Progress) => void) | undefined;
  readonly #clock: Clock;
  readonly #forecast: ((done: number) => IngestForecast) | undefined;
  /** The number of items, if known. */
  total: number | undefined;
  /** Whether the work waits for nothing but its source. */
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

  /** An earlier run settled the first `done` items: they count as done, but not for the rate. */
  skip(done: number): void {
    this.#doneBefore = done;
    this.#startedAt = this.#clock.now();
    this.update(done);
  }

  /** `done` counts all items, including skipped ones. */
  update(done: number, isEnd = false): void {
    this.#done = done;
    if (this.#failure !== undefined) throw this.#failure.error;
    const now = this.#clock.now();
    if (this.#report === undefined || (!isEnd && now - this.#lastAt < shortestGapMs)) return;
    this.stop();
    this.#lastAt = now;
    const seconds = (now - this.#startedAt) / 1_000;
    const perSecond = seconds > 0 ? (done - this.#doneBefore) / seconds : 0;
    const left = this.total === undefined ? undefined : Math.max(0, this.total - done);
    const etaMs =
      left === 0 ? 0 : left === undefined || perSecond === 0 ? undefined : (left / perSecond) * 1_000;
    const forecast = this.#forecast?.(done);
    const progress = { done, total: this.total, perSecond, etaMs, waitingFor: this.waitingFor };
    this.#report(forecast === undefined ? progress : { ...progress, forecast });
  }

  /** What the work waits for may have changed: reports it, at once or when the next report is due. */
  touch(): void {
    if (this.#report === undefined || this.#cancelLater !== undefined) return;
    const dueInMs = this.#lastAt + shortestGapMs - this.#clock.now();
    if (dueInMs <= 0) return this.#tell();
    this.#cancelLater = this.#clock.after(dueInMs, () => this.#tell(), { idle: true });
  }

  stop(): void {
    this.#cancelLater?.();
    this.#cancelLater = undefined;
  }

  // Called in requests and timers: a callback that throws must end the run, not them.
  #tell(): void {
    this.stop();
    try {
      this.update(this.#done);
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}
