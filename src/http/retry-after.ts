import { headerOf, type RawHeaders } from "./types.ts";

// The three forms of an HTTP date (RFC 9110, 5.6.7): IMF-fixdate, RFC 850, asctime.
const httpDate =
  /^[A-Z][a-z]{2,8},? (\d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} |[A-Z][a-z]{2} [ \d]\d )\d{2}:\d{2}:\d{2}( GMT| \d{4})$/;

const dateOf = (value: string): number => {
  if (!httpDate.test(value)) return Number.NaN;
  return Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
};

/**
 * How long the service asks to wait, in milliseconds; undefined when it names no time.
 *
 * Seconds may be whole or decimal. A date is read against the answer's own `Date`, so that a wrong clock on
 * this side neither shortens nor stretches the wait; `wallTime` stands in where the answer has none. Anything
 * else counts as absent.
 */
export const retryAfterMs = (headers: RawHeaders, wallTime: number): number | undefined => {
  const value = headerOf(headers, "retry-after")?.trim();
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  const until = dateOf(value);
  if (Number.isNaN(until)) return undefined;
  const sentAt = dateOf(headerOf(headers, "date")?.trim() ?? "");
  return Math.max(0, until - (Number.isNaN(sentAt) ? wallTime : sentAt));
};
