import { ConfigurationError } from "../errors.ts";
import { nearestTo } from "../runtime/nearest-name.ts";
import { anything, must, type Rule } from "../runtime/rules.ts";
import { isDate, shown } from "../runtime/values.ts";
import { isArray, isFields } from "./json.ts";

/** The end of an error about an unknown name: the name that was probably meant, or all known names. */
export const hintFor = (name: string, known: readonly string[]): string => {
  const near = nearestTo(name, known);
  return near === undefined ? `: there are ${known.join(", ")}` : `: did you mean "${near}"?`;
};

export const isTime = must(
  "a Date or an ISO 8601 string",
  (value) => (typeof value === "string" || isDate(value)) && !Number.isNaN(new Date(value).getTime()),
);

/** Checks some values in another way. */
export const when =
  (test: (value: unknown) => boolean, then: Rule, otherwise: Rule): Rule =>
  (value, field) =>
    (test(value) ? then : otherwise)(value, field);

/** Accepts this value too. */
export const or = (accepted: unknown, check: Rule): Rule =>
  when((value) => value === accepted, anything, check);

/** One of these names. */
export const oneOf = (...known: readonly string[]): Rule =>
  when(
    (value) => typeof value === "string",
    (value, field) => {
      const name = String(value);
      return known.includes(name) ? [] : [`${field}: there is no "${name}"${hintFor(name, known)}`];
    },
    must(`one of ${known.join(", ")}`, () => false),
  );

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
    isFields(value)
      ? Object.entries(value).flatMap(([name, item]) => check(item, `${field}.${name}`))
      : [`${field} must be an object, got ${shown(value)}`];

/** An object with no other names than these; a value of undefined counts as missing. */
export const shape =
  (checks: Readonly<Record<string, Rule>>, ...required: readonly string[]): Rule =>
  (value, field) => {
    if (!isFields(value)) return [`${field || "the argument"} must be an object, got ${shown(value)}`];
    const known = Object.keys(checks);
    const inside = (name: string) => (field === "" ? name : `${field}.${name}`);
    const missing = required.filter((name) => value[name] === undefined);
    return [
      ...missing.map((name) => `${inside(name)} is missing`),
      ...Object.entries(value).flatMap(([name, item]) => {
        const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
        if (check === undefined)
          return [`there is no option "${inside(name)}"${hintFor(inside(name), known.map(inside))}`];
        return item === undefined ? [] : check(item, inside(name));
      }),
    ];
  };

/** @throws ConfigurationError naming every fault at once. */
export const refuse = (what: string, faults: readonly string[]): void => {
  if (faults.length > 0) throw new ConfigurationError(`${what}: ${faults.join("; ")}`);
};
