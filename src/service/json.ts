import * as z from "zod/mini";
import {
  asWritten,
  conversionAdvice,
  deepestNesting,
  isDate,
  isOpaque,
  isRecord,
  shown,
  withArticle,
} from "../runtime/values.ts";
import { deferred, type FreeFields } from "./common.ts";

/** A value that JSON would change, and its path. */
export interface JsonFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const fault = (message: string): JsonFault => ({ path: [], message });

// This fault has no path of its own, because the outermost field says more than a path of a hundred keys.
const tooDeep = fault(`must not be nested more than ${deepestNesting} levels deep`);

/** An object that is being read, linked to the object around it. The outermost level has no `value`. */
interface Level {
  readonly value: object | undefined;
  readonly above: Level | undefined;
  readonly depth: number;
  /** Returns the fault of a field's name, at any depth; undefined for an allowed name. */
  readonly refusal: ((name: string) => string | undefined) | undefined;
}

const isAround = (value: object, level: Level | undefined): boolean =>
  level !== undefined && (level.value === value || isAround(value, level.above));

const faultInside = (value: object, level: Level): JsonFault | undefined => {
  // Read arrays by index, because JSON writes a hole as null, too.
  const keys: Iterable<PropertyKey> = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) {
    const item: unknown = Reflect.get(value, key);
    if (item === undefined && Array.isArray(value))
      return { path: [key], message: "must not be undefined: JSON turns it into null in an array" };
    const refusal = item === undefined || Array.isArray(value) ? undefined : level.refusal?.(String(key));
    const itemFault = refusal === undefined ? faultIn(item, String(key), level) : fault(refusal);
    if (itemFault === tooDeep) return itemFault;
    if (itemFault !== undefined) return { ...itemFault, path: [key, ...itemFault.path] };
  }
  return undefined;
};

const opaqueFault = (value: object): string => {
  // An object may have no constructor. A generator, an iterator and an anonymous class have no name of their own.
  const name = value.constructor?.name ?? "";
  const what = ["", "Object"].includes(name) ? shown(value) : withArticle(name);
  const advice = conversionAdvice(value);
  return `must not be ${what}: JSON would lose its contents${advice === undefined ? "" : `; ${advice}`}`;
};

const faultIn = (input: unknown, key: string, above: Level): JsonFault | undefined => {
  if (isDate(input) && Number.isNaN(input.getTime())) return fault("must be a valid Date");
  let value: unknown;
  try {
    value = asWritten(input, key);
  } catch {
    return fault("cannot be written as JSON: its toJSON throws");
  }
  // JSON would clear the field or leave it out. An invalid time of dayjs or luxon is an example.
  if ((value === null || value === undefined) && value !== input)
    return fault(`must be a value that JSON can represent, but its toJSON returns ${value}`);
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : fault(`must be a finite number, got ${value}`);
  }
  if (["bigint", "function", "symbol"].includes(typeof value))
    return fault(`must not be a ${typeof value}: JSON cannot represent it`);
  if (typeof value !== "object" || value === null) return undefined;
  if (isAround(value, above)) return fault("must not contain itself: JSON cannot represent a cycle");
  if (above.depth === deepestNesting) return tooDeep;
  if (!Array.isArray(value) && isOpaque(value)) return fault(opaqueFault(value));
  return faultInside(value, { value, above, depth: above.depth + 1, refusal: above.refusal });
};

/** Finds what JSON would drop or change. `undefined` in an object is accepted; it means "not given". */
export const jsonFault = (
  input: unknown,
  key = "",
  refusal: Level["refusal"] = undefined,
): JsonFault | undefined => faultIn(input, key, { value: undefined, above: undefined, depth: 0, refusal });

/** Finds what JSON would drop or change in a record. The fault is `message` if JSON does not write an object. */
export const recordFault = (
  value: object,
  message: string,
  refusal?: Level["refusal"],
): JsonFault | undefined => {
  // JSON writes bytes as an object of numbers, which no service expects.
  if (ArrayBuffer.isView(value)) return fault("must not be bytes: it is sent as JSON");
  return jsonFault(value, "", refusal) ?? (isRecord(asWritten(value)) ? undefined : fault(message));
};

/** Like `JsonRecord`, with its own message for a value that is not an object, and with names that are refused. */
export const jsonRecord = (message: string, refusal?: Level["refusal"]) =>
  // z.record and z.object would check a copy, which has lost its toJSON.
  z.custom<FreeFields>(isRecord, message).check(({ value, issues }) => {
    const recordIssue = recordFault(value, message, refusal);
    if (recordIssue !== undefined)
      issues.push({
        code: "custom",
        input: value,
        path: [...recordIssue.path],
        message: recordIssue.message,
      });
  });

/**
 * An object with free keys and JSON values. The result of `toJSON` replaces a value that has this method (a Date, a
 * URL, your own class). NaN, BigInt, functions, cycles and undefined in an array are refused, because JSON would change
 * them. Nesting of more than 100 levels is refused, too.
 */
export const JsonRecord = deferred(() => jsonRecord("must be an object"));
