import * as z from "zod/mini";
import { epochMsOf, type MomentInput, momentObjectFault } from "../runtime/moments.ts";
import { deferred, type Schema } from "./common.ts";

// Extended or basic format, at least to the hour: 2026-01-31T09:00:00.5Z, 20260131T0900+02.
const parts =
  /^(\d{4})-?(\d\d)-?(\d\d)[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(?:[Zz]|([+-]\d\d)(?::?(\d\d))?)$/;
const withoutZone = /^\d{4}-?\d\d-?\d\d[Tt ]\d\d[\d:.,]*$/;

const example = "for example 2026-01-31T09:00:00Z or 2026-01-31T10:00:00+01:00";
const shape = `must be a Date, a Temporal.Instant, a Temporal.ZonedDateTime, or an ISO 8601 string with a time zone, ${example}`;

/** A timestamp in milliseconds since 1970; NaN for an invalid one. */
export const momentMs = (value: unknown): number => {
  const epochMs = epochMsOf(value);
  if (epochMs !== undefined) return epochMs;
  const match = typeof value === "string" ? parts.exec(value) : null;
  if (match === null) return Number.NaN;
  const [, year, month, day, hour, minute = "00", second = "00", fraction = "0"] = match;
  const [zoneHours, zoneMinutes = "00"] = match.slice(8);
  const date = `${year}-${month}-${day}`;
  // Date.parse reads February 30 as March 2.
  if (new Date(`${date}T00:00Z`).toJSON()?.startsWith(date) !== true) return Number.NaN;
  const zone = zoneHours === undefined ? "Z" : `${zoneHours}:${zoneMinutes}`;
  return Date.parse(`${date}T${hour}:${minute}:${second}.${fraction}${zone}`);
};

/**
 * A timestamp in the form that is sent: UTC with milliseconds, which every ISO 8601 parser accepts. Undefined for an
 * invalid timestamp.
 */
export const writtenMoment = (value: unknown): string | undefined => {
  const date = new Date(momentMs(value));
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
};

/** The fault of a timestamp; undefined if it is valid. */
const momentFault = (value: unknown): string | undefined => {
  if (writtenMoment(value) !== undefined) return undefined;
  if (typeof value === "object" && value !== null) return momentObjectFault(value, shape);
  if (typeof value !== "string") return shape;
  if (parts.test(value)) return `must be a time that exists, got ${value}`;
  return withoutZone.test(value) ? `must include a time zone, ${example}` : shape;
};

/** A point in time. A string may be in the extended or basic format of ISO 8601. `readFields` converts it. */
export const Moment: Schema<MomentInput> = deferred(() =>
  z.custom<MomentInput>((value) => momentFault(value) === undefined, {
    error: ({ input }) => momentFault(input),
  }),
);
