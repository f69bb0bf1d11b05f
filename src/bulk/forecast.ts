import type { Call } from "../call/call.ts";
import type { BudgetState, Limits } from "../options/limits.ts";
import { iterateUntilAborted, untilAborted } from "../runtime/cancellation.ts";
import { isSignal, isWhole, readOptions, refuseFaults, ruleFaults } from "../runtime/rules.ts";
import { isCount, isIterable } from "../runtime/values.ts";
import { type EventInput, maxEventsPerRequest, readEvent } from "../service/events.ts";
import { operations } from "../service/operations.ts";
import { momentMs } from "../service/timestamps.ts";

/** How long an ingestion takes at the client's limits, if no other work uses them. */
export interface IngestForecast {
  /** The number of events; those that would be refused without being sent do not count. */
  readonly events: number;
  /** How long they take, in milliseconds, including waits for used-up days. */
  readonly durationMs: number;
  /** The number of days that the daily limits spread them over; a day is any 24 hours. */
  readonly days: number;
  /**
   * How many events will be older than 72 hours when they are sent: the service records them, but they start nothing.
   * Events without `occurredAt` count as new. Undefined if only the number of events is known.
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

/** What a forecast and an ingestion need of the client. */
export interface ForecastContext {
  readonly call: Call;
  readonly budgets: () => Pick<Record<keyof Limits, BudgetState>, "eventsPerDay" | "requestsPerDay">;
  /** How many events background work may send at once now. */
  readonly largestBatch: () => number;
}

export const batchSizeRule = isWhole(1, maxEventsPerRequest);

const dayMs = 86_400_000;
/** Older events start nothing. Source: service document, Events, record-an-event rule 3. */
const tooOldMs = 72 * 3_600_000;

/** When each event is sent, at the latest. */
class Timetable {
  readonly #msPerEvent: number;
  readonly #today: number;
  readonly #perDay: number;

  /** In milliseconds since 1970. */
  readonly now: number;

  constructor(batchSize = maxEventsPerRequest, context: ForecastContext) {
    const { clock, context: client } = context.call;
    this.now = clock.wallTime();
    const perRequest = Math.min(batchSize, context.largestBatch());
    const { events, requests, eventsPerDay, requestsPerDay } = client.settings.limits || {};
    const msFor = (limit: Limits["events"] | undefined): number => (limit ? limit.windowMs / limit.max : 0);
    this.#msPerEvent = Math.max(msFor(events), msFor(requests) / perRequest);
    const most = Number.POSITIVE_INFINITY;
    this.#perDay = Math.min(eventsPerDay ?? most, (requestsPerDay ?? most) * perRequest);
    const today = context.budgets();
    this.#today = Math.min(
      today.eventsPerDay.remaining,
      today.requestsPerDay.remaining * perRequest,
      this.#perDay,
    );
  }

  /** When the nth event is sent, in milliseconds from now; counted from 0. */
  dueInMs(nth: number): number {
    const day = this.dayOf(nth);
    const onDay = day === 0 ? nth : (nth - this.#today) % this.#perDay;
    return Math.max(nth * this.#msPerEvent, day * dayMs + onDay * this.#msPerEvent);
  }

  /** 0 for today. The events of today are free again in 24 hours at the latest. */
  dayOf(nth: number): number {
    return nth < this.#today ? 0 : 1 + Math.floor((nth - this.#today) / this.#perDay);
  }

  /** Whether the nth event, which happened at `atMs`, will be older than 72 hours when it is sent. */
  isTooOld(atMs: number, nth: number): boolean {
    return this.now + this.dueInMs(nth) - atMs > tooOldMs;
  }

  over(events: number, tooOld: number | undefined): IngestForecast {
    const last = events - 1;
    const durationMs = events === 0 ? 0 : Math.ceil(this.dueInMs(last) + this.#msPerEvent);
    return { events, durationMs, days: events === 0 ? 0 : 1 + this.dayOf(last), tooOld };
  }
}

/** When an event happened; NaN if it does not say. */
const occurredAtMs = (event: unknown): number => momentMs(Object(event).occurredAt);

/** The forecast for the rest of a run; for an array it knows the time of every event. */
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
    return timetable.over(Math.max(0, total - done), tooOld);
  };
};

/** Reads a source, sends nothing, and returns how long its ingestion would take from now. */
export const forecast = async (
  source: Iterable<EventInput> | AsyncIterable<EventInput> | number,
  input: ForecastOptions,
  context: ForecastContext,
): Promise<IngestForecast> => {
  const rules = { batchSize: batchSizeRule, signal: isSignal };
  const options = readOptions(input, rules);
  const faults = ruleFaults(options, rules);
  if (!isCount(source) && !isIterable(source))
    faults.push("the source must be a whole number of events, an array, a generator or a stream of objects");
  refuseFaults("events.forecast", faults);
  const timetable = new Timetable(options.batchSize, context);
  if (typeof source === "number") return timetable.over(source, undefined);
  let events = 0;
  let tooOld = 0;
  for await (const item of iterateUntilAborted(source, options.signal)) {
    const event = readEvent(item);
    const checked = Promise.resolve(context.call.issues(operations.events.record, event));
    if ((await untilAborted(checked, options.signal)).length > 0) continue;
    if (timetable.isTooOld(occurredAtMs(event), events)) tooOld += 1;
    events += 1;
  }
  return timetable.over(events, tooOld);
};
