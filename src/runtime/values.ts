import { types } from "node:util";

// Under a test runner, or in a vm, a program has a realm of its own, and what Node's own modules hand over is of
// another: there `instanceof` says no to a Date, a Buffer and an Error.

/** A Date of any realm. */
export const isDate = (value: unknown): value is Date => types.isDate(value);

/** Bytes of any realm; a Buffer is some. */
export const isBytes = (value: unknown): value is Uint8Array => types.isUint8Array(value);

/** A query of any realm. */
export const isSearchParams = (value: unknown): value is URLSearchParams =>
  Object.prototype.toString.call(value) === "[object URLSearchParams]";

/** An abort signal of any realm, or of a library. */
export const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === "object" &&
  value !== null &&
  "aborted" in value &&
  "addEventListener" in value &&
  typeof value.addEventListener === "function";

/** An error of the system, of any realm: there is no such file. */
export const isMissingFile = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";

/** Anything with fields: an object of any kind, but no array. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether all that a value holds are properties of its own: a Map, a `Headers` or an array keeps it elsewhere. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The root of any realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** A name without what people write in different ways: case, `_` and `-`. */
export const foldedName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

/** Options that do not exist: a misspelt one must not be ignored. */
export const unknownKeys = (options: object, known: readonly string[]): string[] =>
  Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => `there is no option "${key}"`);

/** A value within a message; what cannot be written as text must not hide the other faults. */
export const shown = (value: unknown): string =>
  typeof value === "object" && value !== null ? "an object" : String(value);

/** Reports a number that is too small, or no number. */
export const atLeast = (
  faults: string[],
  name: string,
  value: unknown,
  least: number,
  isWhole: boolean,
): void => {
  const fits = typeof value === "number" && value >= least && (!isWhole || Number.isSafeInteger(value));
  if (value !== undefined && !fits) {
    faults.push(
      `${name} must be ${isWhole ? "a whole number of" : "a number of"} at least ${least}, got ${shown(value)}`,
    );
  }
};

/** What JSON makes of a value: a copy that holds data only. */
export const jsonCopy = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** How deep fields may be nested: far beyond what anybody means, and far within what a call stack holds. */
export const deepestNesting = 100;

const asField = { enumerable: true, configurable: true, writable: true };

// What is nested deeper than any input may be is refused, and need not be copied; these hold a list of such inputs.
const deepest = deepestNesting + 2;

/** `around` holds the copies of the objects that this one lies in: one that holds itself has a copy that does. */
const copyOf = (given: unknown, around: Map<object, object>): unknown => {
  if (typeof given !== "object" || given === null || around.size > deepest) return given;
  const isList = Array.isArray(given);
  if (!isList && !isPlainObject(given)) return isDate(given) ? new Date(given.getTime()) : given;
  // JSON takes what this says.
  if ("toJSON" in given) return given;
  const known = around.get(given);
  if (known !== undefined) return known;
  if (isList) {
    const items: unknown[] = [];
    around.set(given, items);
    for (const item of given) items.push(copyOf(item, around));
    around.delete(given);
    return items;
  }
  const fields: Record<string, unknown> = {};
  around.set(given, fields);
  for (const [key, value] of Object.entries(given)) {
    const copied = typeof value === "object" ? copyOf(value, around) : value;
    // Set the usual way, this one would become the prototype.
    if (key === "__proto__") Object.defineProperty(fields, key, { ...asField, value: copied });
    else fields[key] = copied;
  }
  around.delete(given);
  return fields;
};

/**
 * A value as it is now: its owner may use the object for the next one before it is sent, or sent again. Objects,
 * arrays and Dates are copied, as deep as an input may be nested; an instance of a class of one's own is not, as its fields may be private.
 */
// A copy has every field of what it was made of.
export const snapshot = <T>(given: T): T => copyOf(given, new Map()) as T;

/** The sentence of anything thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
