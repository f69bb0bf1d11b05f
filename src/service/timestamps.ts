import * as z from "zod/mini";
import { isDate } from "../runtime/values.ts";
import { deferred, type Fields, type Schema } from "./common.ts";

// Extended or basic format, at least to the hour: 2026-01-31T09:00:00.5Z, 20260131T0900+02.
const parts =
  /^(\d{4})-?(\d\d)-?(\d\d)[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(?:[Zz]|([+-]\d\d)(?::?(\d\d))?)$/;
const withoutZone = /^\d{4}-?\d\d-?\d\d[Tt ]\d\d[\d:.,]*$/;
/** The form that every ISO 8601 parser accepts. */
const plain = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const zoneless = "must be a valid Date or an ISO 8601 string with a time zone at its end";
const shape = "must be a valid Date or an ISO 8601 string with a time zone, such as 2026-01-31T09:00:00Z";

// The calendar repeats after 400 years, and Date.UTC maps years below 100 to 19xx.
const daysIn = (year: number, month: number): number => new Date(Date.UTC(year + 400, month, 0)).getUTCDate();

const calendarFault = (read: RegExpExecArray): string | undefined => {
  const numbers = Array.from(read, (part: string | undefined) => Number(part ?? 0));
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0] = numbers;
  const [second = 0, fraction = 0, ahead = 0, aside = 0] = numbers.slice(6);
  const none = (what: string) => `must be a time that exists: there is no ${what}`;
  if (month < 1 || month > 12) return none(`month ${read[2]}`);
  if (day < 1 || (day > 28 && day > daysIn(year, month)))
    return none(`day ${read[3]} in ${read[1]}-${read[2]}`);
  // ISO 8601 has an hour 24: midnight, the end of the day.
  if (hour > 24 || (hour === 24 && minute + second + fraction > 0)) return none(`hour ${read[4]}`);
  if (minute > 59) return none(`minute ${read[5]}`);
  if (second > 59) return none(`second ${read[6]}`);
  return Math.abs(ahead) > 23 || aside > 59 ? none(`time zone ${read[8]}:${read[9] ?? "00"}`) : undefined;
};

/** What is wrong with a timestamp; undefined if nothing is. */
const momentFault = (value: unknown): string | undefined => {
  if (isDate(value)) {
    const year = value.getUTCFullYear();
    return year >= 0 && year <= 9999 ? undefined : shape;
  }
  if (typeof value !== "string") return shape;
  const read = parts.exec(value);
  if (read !== null) return calendarFault(read);
  return withoutZone.test(value) ? `${zoneless}: Z, or an offset such as +02:00` : shape;
};

/** A timestamp in milliseconds since 1970; NaN for an invalid one. */
export const momentMs = (value: unknown): number => {
  if (isDate(value)) return value.getTime();
  const read = typeof value === "string" ? parts.exec(value) : null;
  if (read === null || calendarFault(read) !== undefined) return Number.NaN;
  const [, year, month, day, hour, minute = "00", second = "00", fraction = "0", ahead, aside = "00"] = read;
  const zone = ahead === undefined ? "Z" : `${ahead}:${aside}`;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}${zone}`);
};

/** A timestamp as it is sent: a string in the common form stays unchanged, other values are converted to it. */
export const writtenMoment = (value: Date | string): string =>
  typeof value === "string" && plain.test(value) ? value : new Date(momentMs(value)).toISOString();

/**
 * A timestamp: a valid `Date`, or an ISO 8601 string with a time zone, extended or basic. It is sent as an extended ISO
 * string.
 */
export const Moment: Schema<Date | string> = deferred(() =>
  z.custom<Date | string>((value) => momentFault(value) === undefined, {
    error: ({ input }) => momentFault(input),
  }),
);

const withMoment = (record: Fields, field: string): Fields => {
  const value = record[field];
  // A Date has its own toJSON.
  return typeof value === "string" ? { ...record, [field]: writtenMoment(value) } : record;
};

/** Writes `sendAt` in the form that every ISO 8601 parser accepts; the payload already matches its schema. */
export const writeSendAt = (payload: unknown): unknown => withMoment(payload as Fields, "sendAt");

/** The same for the time of an event. */
export const writeOccurredAt = (payload: unknown): unknown => withMoment(payload as Fields, "occurredAt");

/** The same for every event of a batch. */
export const writeBatch = (payload: unknown): unknown => {
  const { events, ...rest } = payload as { readonly events: readonly Fields[] };
  return { ...rest, events: events.map(writeOccurredAt) };
};
