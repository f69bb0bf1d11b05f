import { types } from "node:util";

// Under a test runner, or in a vm, a program has its own realm, and values from Node's own modules belong to another:
// `instanceof` then fails for a Date, a Buffer and an Error.

/** A Date of any realm. */
export const isDate = (value: unknown): value is Date => types.isDate(value);

/** Bytes of any realm, including a Buffer. */
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

/** A "no such file" error of any realm. */
export const isMissingFile = (error: unknown): boolean => Object(error).code === "ENOENT";

/** Whether a value is a whole number of things. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

export const isString = (value: unknown): value is string => typeof value === "string";

export const isStringOrNull = (value: unknown): value is string | null => isString(value) || value === null;

/** Whether a value has fields: an object, but not an array. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a value is a source of items: an array, a generator, a stream, but not a text. */
export const isIterable = (value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

/** Whether all content of a value is in its own properties: a Map, a `Headers` or an array stores it elsewhere. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The root of any realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice("[object ".length, -1);

/** Whether a value may hold options: not a Map, a Date, bytes or an array, whose content is no option. */
export const hasOptions = (value: unknown): value is object =>
  isPlainObject(value) || tagOf(value) === "Object";

const longestShown = 100;

/** A value in a message; a value that cannot be written as text must not hide the other faults. */
export const shown = (value: unknown): string => {
  if (typeof value === "string" && value.length > longestShown)
    return `${JSON.stringify(value.slice(0, longestShown))}… (${value.length} characters)`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  const tag = hasOptions(value) ? "object" : tagOf(value);
  return `${/^[AEIOaeio]/.test(tag) ? "an" : "a"} ${tag}`;
};

/** The value that an object's own toJSON returns, as JSON.stringify calls it. */
export const asWritten = (value: unknown, key = ""): unknown => {
  if (typeof value !== "bigint" && (typeof value !== "object" || value === null)) return value;
  const toJSON: unknown = Reflect.get(Object(value), "toJSON");
  return typeof toJSON === "function" ? Reflect.apply(toJSON, value, [key]) : value;
};

/** The value of a text that may be JSON; undefined if it is not. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A value after JSON: a copy that has only data. */
export const jsonCopy = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** How deep fields may be nested: far more than needed, and far less than the call stack allows. */
export const deepestNesting = 100;

const asField = { enumerable: true, configurable: true, writable: true };

// Deeper input is refused, so it need not be copied; these levels hold a list of such inputs.
const deepest = deepestNesting + 2;

/** `around` holds the copies of the enclosing objects, so that the copy of a cyclic object is cyclic. */
const copyOf = (given: unknown, around: Map<object, object>): unknown => {
  if (typeof given !== "object" || given === null || around.size > deepest) return given;
  const isList = Array.isArray(given);
  if (!isList && !isPlainObject(given)) return isDate(given) ? new Date(given.getTime()) : given;
  // JSON uses the result of toJSON.
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
    // A normal assignment would set the prototype.
    if (key === "__proto__") Object.defineProperty(fields, key, { ...asField, value: copied });
    else fields[key] = copied;
  }
  around.delete(given);
  return fields;
};

/**
 * A copy of a value, because its owner may change the object before it is sent, or sent again. Objects, arrays and
 * Dates are copied, as deep as input may be nested. An instance of another class is not copied, because its fields may
 * be private.
 */
// A copy has every field of the original.
export const snapshot = <T>(given: T): T => copyOf(given, new Map()) as T;

/** The message of any thrown value. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
