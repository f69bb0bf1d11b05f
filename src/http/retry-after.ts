import { headerOf, type RawHeaders } from "./types.ts";

const time = String.raw`\d{2}:\d{2}:\d{2}`;

// The three forms of an HTTP date (RFC 9110, 5.6.7); the last one is in GMT without saying so.
const imfFixdate = new RegExp(String.raw`^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} ${time} GMT$`);
const rfc850 = new RegExp(String.raw`^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} ${time} GMT$`);
const asctime = new RegExp(String.raw`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d ${time} \d{4}$`);

const dateOf = (value: string): number => {
  if (imfFixdate.test(value) || rfc850.test(value)) return Date.parse(value);
  return asctime.test(value) ? Date.parse(`${value} GMT`) : Number.NaN;
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
  // Capped, so that a wait without end stays a number that can be added to a time.
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Math.ceil(Number(value) * 1_000), Number.MAX_SAFE_INTEGER);
  const until = dateOf(value);
  if (Number.isNaN(until)) return undefined;
  const sentAt = dateOf(headerOf(headers, "date")?.trim() ?? "");
  return Math.max(0, until - (Number.isNaN(sentAt) ? wallTime : sentAt));
};
