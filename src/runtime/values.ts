import { types } from "node:util";

// Under a test runner or in a vm, a program has its own realm, and values from Node's modules belong to another realm.
// `instanceof` then fails, for example for a Date, a Buffer and an Error.

/** Whether a value is a Date of any realm. */
export const isDate = (value: unknown): value is Date => types.isDate(value);

/** Whether a value is a Uint8Array of any realm. A Buffer is one. */
export const isBytes = (value: unknown): value is Uint8Array => types.isUint8Array(value);

/** Whether a value is a URLSearchParams of any realm. */
export const isSearchParams = (value: unknown): value is URLSearchParams =>
  Object.prototype.toString.call(value) === "[object URLSearchParams]";

/** Whether a value is an abort signal of any realm, or of a library. */
export const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === "object" &&
  value !== null &&
  "aborted" in value &&
  ["addEventListener", "removeEventListener"].every(
    (method) => typeof Reflect.get(value, method) === "function",
  );

/** Whether a value is a "no such file" error of any realm. */
export const isMissingFile = (error: unknown): boolean => Object(error).code === "ENOENT";

/** Whether a value is a whole number of at least 0. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

export const isString = (value: unknown): value is string => typeof value === "string";

export const isStringOrNull = (value: unknown): value is string | null => isString(value) || value === null;

/** Whether a value has fields: an object, but not an array. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a value is a source of items: an array, a generator, a stream, but not a text. */
export const isIterable = (value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

/** Whether a value is a plain object of any realm: no array, no Map, and no instance of a class. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Object.prototype of any realm has no prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** The name in the tag of a value: `Date`, `Object`, `Temporal.Instant`. */
export const tagOf = (value: unknown): string =>
  Object.prototype.toString.call(value).slice("[object ".length, -1);

/** Whether a value may contain options: a plain object or an instance of a class, but no Map, Date, bytes or array. */
export const hasOptions = (value: unknown): value is object =>
  isPlainObject(value) || tagOf(value) === "Object";

const longestShown = 100;

/** A name with its article: an Error, a Map. */
export const withArticle = (name: string): string => `${/^[AEIOaeio]/.test(name) ? "an" : "a"} ${name}`;

/** Describes a value in a message. Works for any value, because an error here would hide the faults to report. */
export const shown = (value: unknown): string => {
  if (typeof value === "string" && value.length > longestShown)
    return `${JSON.stringify(value.slice(0, longestShown))}… (${value.length} characters)`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return withArticle(hasOptions(value) ? "object" : tagOf(value));
};

/**
 * Calls the `toJSON` of a value like JSON.stringify does. Returns other values unchanged, and bytes, too: the `toJSON` of
 * a Buffer returns an object of numbers, which no service expects.
 */
export const asWritten = (value: unknown, key = ""): unknown => {
  if (typeof value !== "bigint" && (typeof value !== "object" || value === null)) return value;
  const toJSON: unknown = Reflect.get(Object(value), "toJSON");
  return typeof toJSON === "function" && !ArrayBuffer.isView(value)
    ? Reflect.apply(toJSON, value, [key])
    : value;
};

/** Parses a text that may be JSON. Returns undefined if it is not. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Copies a value by writing it as JSON and parsing that, so that the copy has only data. */
export const jsonCopy = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The maximum nesting of fields: far more than anybody needs, and far less than the call stack allows. */
export const deepestNesting = 100;

/** The message of any thrown value. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

const asField = { enumerable: true, configurable: true, writable: true };

// The check refuses deeper input, so don't copy it. The two extra levels are for a list of inputs.
const deepest = deepestNesting + 2;

// A date, a time, or both.
const wrappedTime = /^(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d)/;
const toDateMethods = ["toDate", "toJSDate", "toStandardDate"];

/**
 * How to get the value of a time of a library. The times of dayjs, luxon and Neo4j have a method; BigQuery wraps a
 * time in an object whose only field is `value`. The value object of a program may look like that, too, but holds no time.
 */
export const timeAdvice = (value: object): string | undefined => {
  const method = toDateMethods.find((name) => typeof Reflect.get(value, name) === "function");
  if (method !== undefined) return `call .${method}() on it`;
  const [[name, text] = [], ...others] = Object.entries(value);
  const isWrapped = name === "value" && others.length === 0 && wrappedTime.test(String(text));
  return isWrapped ? "pass its .value" : undefined;
};

/** How to get the value of a time or a number of a library, such as a Long of `long` or `bson`. */
export const conversionAdvice = (value: object): string | undefined =>
  timeAdvice(value) ??
  // A number that is too large for JSON keeps its digits as text.
  (typeof Reflect.get(value, "toNumber") === "function" ? "call .toString() on it" : undefined);

/**
 * Whether JSON would lose the content of an object without `toJSON`: a Map, a Promise, bytes, an instance with only
 * private fields, a number or a time of a library.
 */
export const isOpaque = (value: object): boolean =>
  !isPlainObject(value) &&
  (Object.keys(value).length === 0 ||
    value instanceof Error ||
    ArrayBuffer.isView(value) ||
    conversionAdvice(value) !== undefined);

/**
 * The result of a value's `toJSON`, or the value itself. Undefined if `toJSON` returns null or throws, because JSON
 * would lose the value.
 */
const writtenBy = (value: object | bigint, key: string): unknown => {
  try {
    const written = asWritten(value, key) ?? undefined;
    // Remove the end of a ZonedDateTime, [Europe/Berlin], because few parsers of ISO 8601 accept it.
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
  /** The names of the fields that contain a time. */
  readonly moments: readonly string[];
  /** Whether the value may have fields that the copy lacks. */
  isPartial: boolean;
}

/** The form that JSON writes for an object that is not plain; undefined if JSON would lose the object. */
const writtenForm = (value: object, key: string, copying: Copying): unknown => {
  copying.isPartial = true;
  const isRoot = copying.around.size === 0;
  const written = writtenBy(value, key);
  const isObject = typeof written === "object" && written !== null;
  // An input must be an object. If JSON would write it as text, leave it unchanged, so that the check names its class.
  if (isRoot && !isObject) return value;
  // Unwrap values such as `new String()`.
  return isObject && ["String", "Number", "Boolean", "BigInt"].includes(tagOf(written))
    ? written.valueOf()
    : written;
};

/** Copies one value, as a step of `writtenCopy`. */
export const copyWritten = (value: unknown, key: string, copying: Copying): unknown => {
  const { around, moments } = copying;
  if (typeof value === "bigint") return writtenBy(value, key) ?? value;
  if (typeof value !== "object" || value === null || around.size > deepest) return value;
  if (types.isDate(value)) return new Date(value.getTime());
  // Leave an object in the field of a time unchanged, so that the check of the time can name its library.
  if (around.size === 1 && moments.includes(key)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = (prototype === Object.prototype || prototype === null) && !("toJSON" in value);
  const written = isPlain ? value : writtenForm(value, key, copying);
  // Leave a value that JSON would lose unchanged, so that the check refuses it by name.
  if (written === undefined) return value;
  if (typeof written !== "object" || written === null || types.isDate(written)) return written;
  const copy = around.get(written);
  if (copy !== undefined) return copy;
  if (Array.isArray(written)) {
    const items: unknown[] = [];
    around.set(written, items);
    // Iterate by index, so that a hole becomes undefined, which the check refuses.
    for (let index = 0; index < written.length; index += 1)
      items.push(copyWritten(written[index], String(index), copying));
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
    // An assignment to `__proto__` would set the prototype.
    if (name === "__proto__") Object.defineProperty(fields, name, { ...asField, value: copied });
    else fields[name] = copied;
  }
  around.delete(written);
  return fields;
};

/**
 * A copy of a value as JSON would write it: own enumerable fields, each read once, and the result of `toJSON`. Later
 * changes to the value have no effect. Values that JSON would lose or change (a Map, NaN, a cycle, an invalid Date)
 * stay as they are, so that the check of the input can name them.
 */
export const writtenCopy = <T>(value: T): T =>
  // The copy may lack fields that JSON does not write, but the check of the input reports those.
  copyWritten(value, "", { around: new Map(), moments: [], isPartial: false }) as T;

// Characters that a screen doesn't show: soft hyphen, zero-width and directional marks, joiners, fillers, variation
// selectors, tags, the empty Braille pattern, control characters.
export const invisible = /[\p{Cf}\p{Cc}\u115F\u1160\u2800\u3164\uFFA0]|\p{Default_Ignorable_Code_Point}/u;

/** The first invisible character of a text as `U+200B`; undefined if there is none. */
export const invisibleIn = (text: string): string | undefined => {
  const code = invisible.exec(text)?.[0].codePointAt(0);
  return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
};

const longDigits = 16;
const zero = 48;

/**
 * Whether a text has 16 digits in a row, as every whole number above 2^53 has. Such a run includes one of every 16
 * characters, so look only at every sixteenth one. A regular expression over the whole
 * text is several times slower.
 */
export const hasLongDigits = (text: string): boolean => {
  for (let index = longDigits - 1; index < text.length; index += longDigits) {
    if ((text.charCodeAt(index) ^ zero) >= 10) continue;
    let [first, next] = [index, index + 1];
    while ((text.charCodeAt(first - 1) ^ zero) < 10) first -= 1;
    while ((text.charCodeAt(next) ^ zero) < 10) next += 1;
    if (next - first >= longDigits) return true;
  }
  return false;
};

/** Whether a host name is this machine. `app.localhost` may not be, because many resolvers query the network for it. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(hostname);
