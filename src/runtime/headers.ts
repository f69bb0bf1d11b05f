import { platform } from "./platform.ts";

/** Raw headers: names in lower case, repeated ones as an array. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Raw headers as the platform's `Headers`; values that it refuses are left out. */
export const toHeaders = (raw: RawHeaders): Headers => {
  const { Headers } = platform();
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
const valuesOf = (header: RawHeaders[string]): readonly string[] => {
  const values = typeof header === "object" ? header : [header ?? ""];
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
  const [first = ""] = valuesOf(headers.date);
  const date = dateOf(first.trim());
  const sentAt = Number.isNaN(date) ? wallTime : date;
  const waits = valuesOf(headers["retry-after"])
    .map((value) => waitOf(value.trim(), sentAt))
    .filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
};

// As long as a first back-off may last.
const unnamedPauseMs = 1_000;

/** An error response, as far as it says when to send again. */
interface Refusal {
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
}

/** How long a response pauses the limits of its request: a 429 always does, a 503 if it gives a time. */
export const pauseMsOf = ({ status, retryAfterMs }: Refusal): number | undefined => {
  if (status === 429) return retryAfterMs ?? unnamedPauseMs;
  return status === 503 ? retryAfterMs : undefined;
};
