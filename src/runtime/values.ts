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
  ["addEventListener", "removeEventListener"].every(
    (method) => typeof Reflect.get(value, method) === "function",
  );

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
  // Object.prototype of any realm has no prototype.
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

/** The message of any thrown value. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

const asField = { enumerable: true, configurable: true, writable: true };

// Deeper input is refused, so it need not be copied; these levels hold a list of such inputs.
const deepest = deepestNesting + 2;

/** The method by which a number or a time of a library gives its value: a Long of `long` or `bson`, a Timestamp. */
export const conversionOf = (value: object): string | undefined =>
  ["toDate", "toJSDate", "toNumber"].find((method) => typeof Reflect.get(value, method) === "function");

/**
 * Whether JSON does not see what an object holds: a Map, a Promise, bytes, a class with only private fields, a number or
 * a time of a library. These have no `toJSON`.
 */
export const isOpaque = (value: object): boolean =>
  !isPlainObject(value) &&
  (Object.keys(value).length === 0 ||
    value instanceof Error ||
    ArrayBuffer.isView(value) ||
    conversionOf(value) !== undefined);

/** The value that JSON writes for one with its own `toJSON`; undefined if JSON would lose it, or fail. */
const writtenBy = (value: object | bigint, key: string): unknown => {
  try {
    const written = asWritten(value, key) ?? undefined;
    // JSON of a ZonedDateTime ends in [Europe/Berlin], which few parsers of ISO 8601 accept.
    const hasBracket = typeof written === "string" && tagOf(value) === "Temporal.ZonedDateTime";
    return hasBracket ? written.replace(/\[.*$/, "") : written;
  } catch {
    return undefined;
  }
};

/** One copy in progress. */
export interface Copying {
  /** The copies of the enclosing objects, so that the copy of a cyclic object is cyclic. */
  readonly around: Map<object, object>;
  readonly moments: readonly string[];
  /** Whether the value may have fields that the copy lacks. */
  isPartial: boolean;
}

/** What JSON makes of an object that is no plain one: its `toJSON`, a wrapped text; undefined if JSON would lose it. */
const writtenForm = (value: object, key: string, copying: Copying): unknown => {
  copying.isPartial = true;
  const isRoot = copying.around.size === 0;
  // The input itself: a Buffer's toJSON is an object of numbers, which no service expects.
  if (isRoot && ArrayBuffer.isView(value)) return value;
  const written = writtenBy(value, key);
  const isObject = typeof written === "object" && written !== null;
  // An input is an object: the check names the class of one that is written as a text.
  if (isRoot && !isObject) return value;
  return isObject && ["String", "Number", "Boolean", "BigInt"].includes(tagOf(written))
    ? written.valueOf()
    : written;
};

/** A step of `writtenCopy`. */
export const copyWritten = (value: unknown, key: string, copying: Copying): unknown => {
  const { around, moments } = copying;
  if (typeof value === "bigint") return writtenBy(value, key) ?? value;
  if (typeof value !== "object" || value === null || around.size > deepest) return value;
  if (types.isDate(value)) return new Date(value.getTime());
  // The check of a time names the library that made the object.
  if (around.size === 1 && moments.includes(key)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = (prototype === Object.prototype || prototype === null) && !("toJSON" in value);
  const written = isPlain ? value : writtenForm(value, key, copying);
  // The check of the input calls the same `toJSON`, and refuses the value by name.
  if (written === undefined) return value;
  if (typeof written !== "object" || written === null || types.isDate(written)) return written;
  const copy = around.get(written);
  if (copy !== undefined) return copy;
  if (Array.isArray(written)) {
    const items: unknown[] = [];
    around.set(written, items);
    // By index: a hole is undefined, which the check refuses.
    for (let at = 0; at < written.length; at += 1) items.push(copyWritten(written[at], String(at), copying));
    around.delete(written);
    return items;
  }
  if (!isPlain && isOpaque(written)) return written;
  const names = Object.keys(written);
  if (Object.getOwnPropertyNames(written).length > names.length) copying.isPartial = true;
  const fields: Record<string, unknown> = {};
  around.set(written, fields);
  for (const name of names) {
    const field: unknown = Reflect.get(written, name);
    const copied =
      typeof field === "object" || typeof field === "bigint" ? copyWritten(field, name, copying) : field;
    // A normal assignment would set the prototype.
    if (name === "__proto__") Object.defineProperty(fields, name, { ...asField, value: copied });
    else fields[name] = copied;
  }
  around.delete(written);
  return fields;
};

/**
 * A copy of a value as JSON would write it: own enumerable fields, each read once, and the result of `toJSON`. Later
 * changes to the value have no effect. Values that JSON would lose or change (a Map, NaN, a cycle, an invalid Date) stay
 * as they are, so that the check of the input can name them.
 *
 * @param moments - names of the value's own fields that hold times; their objects are not converted.
 * @returns the copy, and whether the value may have fields that it lacks: accessors of a class, inherited ones.
 */
export const writtenCopy = <T>(
  value: T,
  moments: readonly string[] = [],
): { readonly copy: T; readonly isPartial: boolean } => {
  const copying: Copying = { around: new Map(), moments, isPartial: false };
  // A copy has every field that JSON writes; the check of the input reports the others.
  const copy = copyWritten(value, "", copying) as T;
  return { copy, isPartial: copying.isPartial };
};

// A screen shows none of these: soft hyphen, zero-width and directional marks, joiners, fillers, variation selectors, tags,
// the empty Braille pattern, control characters.
export const invisible = /[\p{Cf}\p{Cc}\u115F\u1160\u2800\u3164\uFFA0]|\p{Default_Ignorable_Code_Point}/u;

/** The first invisible character of a text as `U+200B`; undefined if there is none. */
export const invisibleIn = (text: string): string | undefined => {
  const code = invisible.exec(text)?.[0].codePointAt(0);
  return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
};

const longDigits = 16;

const isDigit = (text: string, at: number): boolean => (text.charCodeAt(at) ^ 48) < 10;

/**
 * Whether the text has 16 digits in a row, as every whole number above 2^53 has. Looking at every sixteenth character
 * finds them all. A regular expression takes a quarter of the time of `JSON.parse`.
 */
export const hasLongDigits = (text: string): boolean => {
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (!isDigit(text, at)) continue;
    let [first, next] = [at, at + 1];
    while (isDigit(text, first - 1)) first -= 1;
    while (isDigit(text, next)) next += 1;
    if (next - first >= longDigits) return true;
  }
  return false;
};

/** Whether a host name is this machine. Names below `localhost` may not be: many resolvers query the network. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(hostname);
