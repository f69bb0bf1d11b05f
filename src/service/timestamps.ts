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

const calendarFault = (match: RegExpExecArray): string | undefined => {
  const numbers = Array.from(match, (part: string | undefined) => Number(part ?? 0));
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0] = numbers;
  const [second = 0, fraction = 0, zoneHours = 0, zoneMinutes = 0] = numbers.slice(6);
  const none = (what: string) => `must be a time that exists: there is no ${what}`;
  if (month < 1 || month > 12) return none(`month ${match[2]}`);
  if (day < 1 || (day > 28 && day > daysIn(year, month)))
    return none(`day ${match[3]} in ${match[1]}-${match[2]}`);
  // ISO 8601 has an hour 24: midnight, the end of the day.
  if (hour > 24 || (hour === 24 && minute + second + fraction > 0)) return none(`hour ${match[4]}`);
  if (minute > 59) return none(`minute ${match[5]}`);
  if (second > 59) return none(`second ${match[6]}`);
  if (Math.abs(zoneHours) > 23 || zoneMinutes > 59) return none(`time zone ${match[8]}:${match[9] ?? "00"}`);
  return undefined;
};

/** The fault of a timestamp; undefined if it is valid. */
const momentFault = (value: unknown): string | undefined => {
  const epochMs = epochMsOf(value);
  if (epochMs !== undefined) {
    const year = new Date(epochMs).getUTCFullYear();
    return year >= 0 && year <= 9999 ? undefined : shape;
  }
  if (typeof value === "object" && value !== null) return momentObjectFault(value, shape);
  if (typeof value !== "string") return shape;
  const match = parts.exec(value);
  if (match !== null) return calendarFault(match);
  return withoutZone.test(value) ? `must include a time zone, ${example}` : shape;
};

/** A timestamp in milliseconds since 1970; NaN for an invalid one. */
export const momentMs = (value: unknown): number => {
  const epochMs = epochMsOf(value);
  if (epochMs !== undefined) return epochMs;
  const match = typeof value === "string" ? parts.exec(value) : null;
  if (match === null || calendarFault(match) !== undefined) return Number.NaN;
  const [, year, month, day, hour, minute = "00", second = "00", fraction = "0"] = match;
  const [zoneHours, zoneMinutes = "00"] = match.slice(8);
  const zone = zoneHours === undefined ? "Z" : `${zoneHours}:${zoneMinutes}`;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}${zone}`);
};

/** A valid timestamp in the form that is sent: UTC with milliseconds, which every ISO 8601 parser accepts. */
export const writtenMoment = (value: MomentInput): string => new Date(momentMs(value)).toISOString();

/** A point in time. A string may be in the extended or basic format of ISO 8601. `writtenMoment` converts it. */
export const Moment: Schema<MomentInput> = deferred(() =>
  z.custom<MomentInput>((value) => momentFault(value) === undefined, {
    error: ({ input }) => momentFault(input),
  }),
);

const withMoment = (record: Fields, field: string): Fields => {
  const value = record[field];
  // The schema has accepted the value.
  return value === undefined ? record : { ...record, [field]: writtenMoment(value as MomentInput) };
};

/** Writes `sendAt` with `writtenMoment`. The payload already matches its schema. */
export const writeSendAt = (payload: unknown): unknown => withMoment(payload as Fields, "sendAt");

/** Writes the `occurredAt` of an event with `writtenMoment`. */
export const writeOccurredAt = (payload: unknown): unknown => withMoment(payload as Fields, "occurredAt");

/** Writes the `occurredAt` of every event in a batch. */
export const writeBatch = (payload: unknown): unknown => {
  const { events, ...rest } = payload as { readonly events: readonly Fields[] };
  return { ...rest, events: events.map(writeOccurredAt) };
};
