import { anything, must, type Rule } from "../runtime/rules.ts";
import { isDate, isRecord, shown } from "../runtime/values.ts";
import { isArray } from "./json.ts";

export const mustBeTime = must(
  "a Date or an ISO 8601 string",
  (value) => (typeof value === "string" || isDate(value)) && !Number.isNaN(new Date(value).getTime()),
);

/** Checks values that pass `test` with `then`, and all others with `otherwise`. */
export const when =
  (test: (value: unknown) => boolean, then: Rule, otherwise: Rule): Rule =>
  (value, field) =>
    (test(value) ? then : otherwise)(value, field);

/** Accepts the value `accepted`, and checks every other value. */
export const or = (accepted: unknown, check: Rule): Rule =>
  when((value) => value === accepted, anything, check);

export const listOf =
  (check: Rule): Rule =>
  (value, field) =>
    isArray(value)
      ? value.flatMap((item, index) => check(item, `${field}[${index}]`))
      : [`${field} must be an array, got ${shown(value)}`];

/** An object with any names, whose values all pass `check`. */
export const recordOf =
  (check: Rule): Rule =>
  (value, field) =>
    isRecord(value)
      ? Object.entries(value).flatMap(([name, item]) => check(item, `${field}.${name}`))
      : [`${field} must be an object, got ${shown(value)}`];
