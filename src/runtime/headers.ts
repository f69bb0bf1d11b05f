import { platform } from "./platform.ts";

/** Raw headers: names are in lower case, and the values of a repeated header are an array. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Converts raw headers to the platform's `Headers`. It leaves out values that `Headers` refuses. */
export const toHeaders = (raw: RawHeaders): Headers => {
  const { Headers } = platform();
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const item of typeof value === "string" ? [value] : (value ?? [])) {
      try {
        headers.append(name, item);
      } catch {
        // Leave out a value with illegal bytes.
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
  // An asctime date names no time zone. It is in GMT.
  return asctime.test(value) ? Date.parse(`${value} GMT`) : Number.NaN;
};

const joinedSeconds = /^\d+(\.\d+)?(, \d+(\.\d+)?)+$/;

/** All values of the header. A fetch joins them with a comma and a space. */
const valuesOf = (header: RawHeaders[string]): readonly string[] => {
  const values = typeof header === "object" ? header : [header ?? ""];
  return values.flatMap((value) => (joinedSeconds.test(value) ? value.split(", ") : [value]));
};

const waitOf = (value: string, sentAt: number): number | undefined => {
  // Cap the wait, so that an infinite one stays a number that can be added to a time.
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Math.ceil(Number(value) * 1_000), Number.MAX_SAFE_INTEGER);
  const until = dateOf(value);
  return Number.isNaN(until) ? undefined : Math.max(0, until - sentAt);
};

/**
 * The wait that the service requires, in milliseconds; undefined if the headers have none.
 *
 * Seconds may have decimals. A date is compared with the response's own `Date`, so that a wrong clock of this machine
 * doesn't change the wait; without a `Date`, it is compared with `wallTime`. Of several values, the longest wait
 * counts. A value of any other form counts as absent.
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

// The pause after a 429 without a usable Retry-After.
const defaultPauseMs = 1_000;

/** The part of an error response that determines a pause. */
interface Refusal {
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
}

/** How long a response pauses the limits of its request. A 429 always pauses them; a 503 only with a required wait. */
export const pauseMsOf = ({ status, retryAfterMs }: Refusal): number | undefined => {
  if (status === 429) return retryAfterMs ?? defaultPauseMs;
  return status === 503 ? retryAfterMs : undefined;
};
