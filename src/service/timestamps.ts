import * as z from "zod/mini";
import { epochMsOf, type MomentInput, momentObjectFault } from "../runtime/moments.ts";
import { deferred, type Fields, type Schema } from "./common.ts";

// Extended or basic format, at least to the hour: 2026-01-31T09:00:00.5Z, 20260131T0900+02.
const parts =
  /^(\d{4})-?(\d\d)-?(\d\d)[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(?:[Zz]|([+-]\d\d)(?::?(\d\d))?)$/;
const withoutZone = /^\d{4}-?\d\d-?\d\d[Tt ]\d\d[\d:.,]*$/;

const example = "for example 2026-01-31T09:00:00Z or 2026-01-31T10:00:00+01:00";
const shape = `must be a Date, a Temporal.Instant, a Temporal.ZonedDateTime, or an ISO 8601 string with a time zone, ${example}`;

// The calendar repeats after 400 years, and Date.UTC maps years below 100 to 19xx.
const daysIn = (year: number, month: number): number => new Date(Date.UTC(year + 400, month, 0)).getUTCDate();

const calendarFault = (read: RegExpExecArray): string | undefined => {
  const numbers = Array.from(read, (part: string | undefined) => Number(part ?? 0));
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0] = numbers;
  const [second = 0, fraction = 0, ahead = 0, aside = 0] = numbers.slice(6);
  const none = (what: string) => `must be an existing time: there is no ${what}`;
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
  const epochMs = epochMsOf(value);
  if (epochMs !== undefined) {
    const year = new Date(epochMs).getUTCFullYear();
    return year >= 0 && year <= 9999 ? undefined : shape;
  }
  if (typeof value === "object" && value !== null) return momentObjectFault(value, shape);
  if (typeof value !== "string") return shape;
  const read = parts.exec(value);
  if (read !== null) return calendarFault(read);
  return withoutZone.test(value) ? `must include a time zone, ${example}` : shape;
};

/** A timestamp in milliseconds since 1970; NaN for an invalid one. */
export const momentMs = (value: unknown): number => {
  const epochMs = epochMsOf(value);
  if (epochMs !== undefined) return epochMs;
  const read = typeof value === "string" ? parts.exec(value) : null;
  if (read === null || calendarFault(read) !== undefined) return Number.NaN;
  const [, year, month, day, hour, minute = "00", second = "00", fraction = "0", ahead, aside = "00"] = read;
  const zone = ahead === undefined ? "Z" : `${ahead}:${aside}`;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}${zone}`);
};

/** A valid timestamp as it is sent: UTC with milliseconds, the form that every ISO 8601 parser accepts. */
export const writtenMoment = (value: MomentInput): string => new Date(momentMs(value)).toISOString();

/** A point in time. ISO 8601 strings may be extended or basic. It is sent as UTC with milliseconds. */
export const Moment: Schema<MomentInput> = deferred(() =>
  z.custom<MomentInput>((value) => momentFault(value) === undefined, {
    error: ({ input }) => momentFault(input),
  }),
);

const withMoment = (record: Fields, field: string): Fields => {
  const value = record[field];
  // The schema has accepted it.
  return value === undefined ? record : { ...record, [field]: writtenMoment(value as MomentInput) };
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
