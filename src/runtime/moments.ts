import { isDate, tagOf, timeAdvice } from "./values.ts";

/** A point in time of Temporal. The type lists its fields, so that you need no TypeScript setting for Temporal. */
export interface TemporalMoment {
  readonly epochMilliseconds: number;
  readonly epochNanoseconds: bigint;
}

/**
 * A point in time: a valid `Date`, a `Temporal.Instant`, a `Temporal.ZonedDateTime`, or an ISO 8601 string with a time
 * zone.
 */
export type MomentInput = Date | TemporalMoment | string;

const isTemporal = (value: unknown): value is TemporalMoment =>
  ["Temporal.Instant", "Temporal.ZonedDateTime"].includes(tagOf(value));

/**
 * The milliseconds since 1970 of an object that is a point in time; NaN for an invalid Date, undefined for any other
 * value.
 */
export const epochMsOf = (value: unknown): number | undefined => {
  if (isDate(value)) return value.getTime();
  return isTemporal(value) ? value.epochMilliseconds : undefined;
};

/**
 * Describes the fault of an object that is not a point in time.
 *
 * @param shape - what the value must be.
 */
export const momentObjectFault = (value: object, shape: string): string => {
  const tag = tagOf(value);
  // PlainTime, PlainYearMonth and PlainMonthDay have no toZonedDateTime.
  const hasDate = tag === "Temporal.PlainDateTime" || tag === "Temporal.PlainDate";
  const whose = hasDate
    ? `to make a Temporal.ZonedDateTime of the ${tag}`
    : `of a Temporal.PlainDate: a ${tag} is not a date`;
  if (tag.startsWith("Temporal.Plain")) return `has no time zone; use toZonedDateTime(…) ${whose}`;
  const advice = timeAdvice(value);
  return advice === undefined ? shape : `${shape}; ${advice}`;
};
