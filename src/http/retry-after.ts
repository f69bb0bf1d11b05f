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

const joinedSeconds = /^\d+(\.\d+)?(, \d+(\.\d+)?)+$/;

/** Each time the header came; a fetch joins them by a comma and a blank. */
const valuesOf = (given: RawHeaders[string]): readonly string[] => {
  const values = typeof given === "object" ? given : [given ?? ""];
  return values.flatMap((value) => (joinedSeconds.test(value) ? value.split(", ") : [value]));
};

const waitOf = (value: string, sentAt: number): number | undefined => {
  // Capped, so that a wait without end stays a number that can be added to a time.
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Math.ceil(Number(value) * 1_000), Number.MAX_SAFE_INTEGER);
  const until = dateOf(value);
  return Number.isNaN(until) ? undefined : Math.max(0, until - sentAt);
};

/**
 * How long the service asks to wait, in milliseconds; undefined when it names no time.
 *
 * Seconds may be whole or decimal. A date is read against the answer's own `Date`, so that a wrong clock on
 * this side neither shortens nor stretches the wait; `wallTime` stands in where the answer has none. Of several the
 * longest counts; anything else counts as absent.
 */
export const retryAfterMs = (headers: RawHeaders, wallTime: number): number | undefined => {
  const date = dateOf(headerOf(headers, "date")?.trim() ?? "");
  const sentAt = Number.isNaN(date) ? wallTime : date;
  const waits = valuesOf(headers["retry-after"])
    .map((value) => waitOf(value.trim(), sentAt))
    .filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
};
