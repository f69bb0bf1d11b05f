import type { Clock } from "./clock.ts";

/** Raw headers: names in lower case, repeated ones as an array. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header's value; the first one if it was repeated. */
export const headerOf = (headers: RawHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === "object" ? value[0] : value;
};

/** Raw headers as the platform's `Headers`; values that it refuses are left out. */
export const toHeaders = (raw: RawHeaders): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const item of typeof value === "string" ? [value] : (value ?? [])) {
      try {
        headers.append(name, item);
      } catch {
        // Bytes that are not a legal header value are useless.
      }
    }
  }
  return headers;
};

// The three forms of an HTTP date (RFC 9110, 5.6.7): IMF-fixdate, RFC 850, and asctime.
const httpDate =
  /^([A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4}|[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d) \d\d:\d\d:\d\d GMT$/;
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

const dateOf = (value: string): number => {
  if (httpDate.test(value)) return Date.parse(value);
  // In GMT, without saying so.
  return asctime.test(value) ? Date.parse(`${value} GMT`) : Number.NaN;
};

const joinedSeconds = /^\d+(\.\d+)?(, \d+(\.\d+)?)+$/;

/** All values of the header; a fetch joins them by a comma and a blank. */
const valuesOf = (given: RawHeaders[string]): readonly string[] => {
  const values = typeof given === "object" ? given : [given ?? ""];
  return values.flatMap((value) => (joinedSeconds.test(value) ? value.split(", ") : [value]));
};

const waitOf = (value: string, sentAt: number): number | undefined => {
  // Capped, so that an infinite wait stays a number that can be added to a time.
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Math.ceil(Number(value) * 1_000), Number.MAX_SAFE_INTEGER);
  const until = dateOf(value);
  return Number.isNaN(until) ? undefined : Math.max(0, until - sentAt);
};

/**
 * How long the service asks to wait, in milliseconds; undefined if it gives no time.
 *
 * Seconds may be whole or decimal. A date is compared with the response's own `Date`, so that a wrong clock on this
 * side does not change the wait; `wallTime` is used if the response has none. Of several values, the longest counts;
 * anything else counts as absent.
 */
export const retryAfterMs = (headers: RawHeaders, wallTime: number): number | undefined => {
  const date = dateOf(headerOf(headers, "date")?.trim() ?? "");
  const sentAt = Number.isNaN(date) ? wallTime : date;
  const waits = valuesOf(headers["retry-after"])
    .map((value) => waitOf(value.trim(), sentAt))
    .filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
};

// If this clock was set back, responses seem earlier than expected by more than their rounding.
const roundingMs = 2_000;

/**
 * The service's clock, from the `Date` of its responses: never later than the real time, and at most about a second
 * earlier.
 */
export class ServiceTime {
  readonly #clock: Pick<Clock, "wallTime">;
  #aheadMs: number | undefined;
  /** The last Date that was read: of the responses of one second, the first says most. */
  #noted: string | undefined;

  constructor(clock: Pick<Clock, "wallTime">) {
    this.#clock = clock;
  }

  /** Reads a response's headers. */
  note(headers: RawHeaders): void {
    const text = headerOf(headers, "date");
    if (text === undefined || text === this.#noted) return;
    const date = Date.parse(text);
    if (Number.isNaN(date)) return;
    this.#noted = text;
    const aheadMs = date - this.#clock.wallTime();
    // Each response gives a lower bound; the highest is the closest.
    const isSetBack = this.#aheadMs !== undefined && aheadMs < this.#aheadMs - roundingMs;
    this.#aheadMs = this.#aheadMs === undefined || isSetBack ? aheadMs : Math.max(this.#aheadMs, aheadMs);
  }

  /** Milliseconds since 1970; undefined before the first response. */
  now(): number | undefined {
    return this.#aheadMs === undefined ? undefined : this.#clock.wallTime() + this.#aheadMs;
  }
}
