import type { Call } from "../call/call.ts";
import type { BudgetState, Limits } from "../options/limits.ts";
import { iterateUntilAborted, untilAborted } from "../runtime/cancellation.ts";
import { mustBeSignal, mustBeWhole, readOptions, refuseFaults, ruleFaults } from "../runtime/rules.ts";
import { isCount, isIterable } from "../runtime/values.ts";
import { type EventInput, maxEventsPerRequest, readEvent } from "../service/events.ts";
import { operations } from "../service/operations.ts";
import { momentMs } from "../service/timestamps.ts";

/** How long an ingestion takes within the client's limits, if no other work uses the limits. */
export interface IngestForecast {
  /**
   * The number of events that the forecast covers. If `events.forecast` reads a source, it leaves out invalid events,
   * because the client does not send them.
   */
  readonly events: number;
  /** How long the ingestion takes, in milliseconds. This includes waits for used-up daily limits. */
  readonly durationMs: number;
  /** The number of days over which the daily limits spread the events. A day is any 24 hours, not a calendar day. */
  readonly days: number;
  /**
   * How many events will be older than 72 hours when they are sent. The service records them, but they start no
   * automation. Events without `occurredAt` count as new. Undefined if only the number of events is known.
   */
  readonly tooOld: number | undefined;
}

/** Options of a forecast. */
export interface ForecastOptions {
  /** Events per request, 1 to 100. Default: 100. */
  readonly batchSize?: number | undefined;
  /** Aborts reading the source. */
  readonly signal?: AbortSignal | undefined;
}

/** The parts of the client that a forecast and an ingestion use. */
export interface ForecastContext {
  readonly call: Call;
  readonly budgets: () => Pick<Record<keyof Limits, BudgetState>, "eventsPerDay" | "requestsPerDay">;
  /** The maximum number of events that background work may currently send in one request. */
  readonly largestBatch: () => number;
}

export const batchSizeRule = mustBeWhole(1, maxEventsPerRequest);

const dayMs = 86_400_000;
/** Events older than this start no automation. Source: service document, Events, record-an-event rule 3. */
const tooOldMs = 72 * 3_600_000;

/** Computes when each event is sent, at the latest. */
class Timetable {
  readonly #msPerEvent: number;
  readonly #eventsLeftToday: number;
  readonly #perDay: number;

  /** The time of the forecast, in milliseconds since 1970. */
  readonly now: number;

  constructor(batchSize = maxEventsPerRequest, context: ForecastContext) {
    const { clock, context: client } = context.call;
    this.now = clock.wallTime();
    const perRequest = Math.min(batchSize, context.largestBatch());
    const { events, requests, eventsPerDay, requestsPerDay } = client.settings.limits || {};
    const msFor = (limit: Limits["events"] | undefined): number => (limit ? limit.windowMs / limit.max : 0);
    this.#msPerEvent = Math.max(msFor(events), msFor(requests) / perRequest);
    const unlimited = Number.POSITIVE_INFINITY;
    this.#perDay = Math.min(eventsPerDay ?? unlimited, (requestsPerDay ?? unlimited) * perRequest);
    const today = context.budgets();
    this.#eventsLeftToday = Math.min(
      today.eventsPerDay.remaining,
      today.requestsPerDay.remaining * perRequest,
      this.#perDay,
    );
  }

  /** The time until the nth event (counted from 0) is sent, in milliseconds. */
  dueInMs(nth: number): number {
    const day = this.dayOf(nth);
    const onDay = day === 0 ? nth : (nth - this.#eventsLeftToday) % this.#perDay;
    return Math.max(nth * this.#msPerEvent, day * dayMs + onDay * this.#msPerEvent);
  }

  /** The day on which the nth event is sent; 0 is today. The budget of a day is available again after 24 hours. */
  dayOf(nth: number): number {
    return nth < this.#eventsLeftToday ? 0 : 1 + Math.floor((nth - this.#eventsLeftToday) / this.#perDay);
  }

  /** Whether the nth event, which happened at `atMs`, will be older than 72 hours when it is sent. */
  isTooOld(atMs: number, nth: number): boolean {
    return this.now + this.dueInMs(nth) - atMs > tooOldMs;
  }

  forecastFor(events: number, tooOld: number | undefined): IngestForecast {
    const last = events - 1;
    const durationMs = events === 0 ? 0 : Math.ceil(this.dueInMs(last) + this.#msPerEvent);
    return { events, durationMs, days: events === 0 ? 0 : 1 + this.dayOf(last), tooOld };
  }
}

/** When an event happened; NaN if the event has no valid `occurredAt`. */
const occurredAtMs = (event: unknown): number => momentMs(Object(event).occurredAt);

/**
 * Creates a function that forecasts the remaining events of a run; undefined without a total. The forecast has `tooOld`
 * only for an array, because only an array shows the times of events that the run has not read yet.
 */
export const forecastOfRun = (
  source: Iterable<unknown> | AsyncIterable<unknown>,
  { total, batchSize }: { readonly total: number | undefined; readonly batchSize?: number | undefined },
  context: ForecastContext,
): ((done: number) => IngestForecast) | undefined => {
  if (total === undefined) return undefined;
  const times = Array.isArray(source) ? Float64Array.from(source, occurredAtMs) : undefined;
  return (done) => {
    const timetable = new Timetable(batchSize, context);
    const tooOld = times
      ?.subarray(done)
      .reduce((count, at, nth) => count + Number(timetable.isTooOld(at, nth)), 0);
    return timetable.forecastFor(Math.max(0, total - done), tooOld);
  };
};

/** Reads a source without sending anything, and returns how long its ingestion would take from now. */
export const forecast = async (
  source: Iterable<EventInput> | AsyncIterable<EventInput> | number,
  input: ForecastOptions,
  context: ForecastContext,
): Promise<IngestForecast> => {
  const rules = { batchSize: batchSizeRule, signal: mustBeSignal };
  const options = readOptions(input, rules);
  const faults = ruleFaults(options, rules);
  if (!isCount(source) && !isIterable(source))
    faults.push("the source must be a whole number of events, an array, a generator or a stream of objects");
  refuseFaults("events.forecast", faults);
  const timetable = new Timetable(options.batchSize, context);
  if (typeof source === "number") return timetable.forecastFor(source, undefined);
  let events = 0;
  let tooOld = 0;
  for await (const item of iterateUntilAborted(source, options.signal)) {
    const event = readEvent(item);
    const checked = Promise.resolve(context.call.issues(operations.events.record, event));
    if ((await untilAborted(checked, options.signal)).length > 0) continue;
    if (timetable.isTooOld(occurredAtMs(event), events)) tooOld += 1;
    events += 1;
  }
  return timetable.forecastFor(events, tooOld);
};
