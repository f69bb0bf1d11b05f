import { ConfigurationError } from "../errors.ts";
import { nearestTo } from "../runtime/nearest-name.ts";
import { isDate, shown } from "../runtime/values.ts";
import { isArray, isFields } from "./json.ts";

/** Returns the faults of a value; each fault names its field. */
export type Check = (value: unknown, field: string) => string[];

/** The end of an error about an unknown name: the name that was probably meant, or all known names. */
export const hintFor = (name: string, known: readonly string[]): string => {
  const near = nearestTo(name, known);
  return near === undefined ? `: there are ${known.join(", ")}` : `: did you mean "${near}"?`;
};

export const must =
  (what: string, fits: (value: unknown) => boolean): Check =>
  (value, field) =>
    fits(value) ? [] : [`${field} must be ${what}, got ${shown(value)}`];

export const anything: Check = () => [];
export const text = must("a non-empty string", (value) => typeof value === "string" && value !== "");
export const flag = must("true or false", (value) => typeof value === "boolean");
export const time = must(
  "a Date or an ISO 8601 string",
  (value) => (typeof value === "string" || isDate(value)) && !Number.isNaN(new Date(value).getTime()),
);

export const isNumber = (value: unknown, least: number, most = Number.POSITIVE_INFINITY): boolean =>
  typeof value === "number" && value >= least && value <= most;

export const whole = (least: number, most = Number.POSITIVE_INFINITY): Check =>
  must(
    most === Number.POSITIVE_INFINITY
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && isNumber(value, least, most),
  );

export const amount = (least: number): Check =>
  must(`a number of at least ${least}`, (value) => isNumber(value, least));

/** Checks some values in another way. */
export const when =
  (test: (value: unknown) => boolean, then: Check, otherwise: Check): Check =>
  (value, field) =>
    (test(value) ? then : otherwise)(value, field);

/** Accepts this value too. */
export const or = (accepted: unknown, check: Check): Check =>
  when((value) => value === accepted, anything, check);

/** One of these names. */
export const oneOf = (...known: readonly string[]): Check =>
  when(
    (value) => typeof value === "string",
    (value, field) => {
      const name = String(value);
      return known.includes(name) ? [] : [`${field}: there is no "${name}"${hintFor(name, known)}`];
    },
    must(`one of ${known.join(", ")}`, () => false),
  );

export const listOf =
  (check: Check): Check =>
  (value, field) =>
    isArray(value)
      ? value.flatMap((item, index) => check(item, `${field}[${index}]`))
      : [`${field} must be an array, got ${shown(value)}`];

/** An object with any names, whose values all pass `check`. */
export const recordOf =
  (check: Check): Check =>
  (value, field) =>
    isFields(value)
      ? Object.entries(value).flatMap(([name, item]) => check(item, `${field}.${name}`))
      : [`${field} must be an object, got ${shown(value)}`];

/** An object with no other names than these; a value of undefined counts as missing. */
export const shape =
  (checks: Readonly<Record<string, Check>>, ...required: readonly string[]): Check =>
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
