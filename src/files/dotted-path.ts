import { ValidationError } from "../errors.ts";
import { isPlainObject } from "../runtime/values.ts";

type Fields = Record<string, unknown>;

/** Joins keys to one name, `customFields.plan`. A backslash escapes a dot or backslash in a key. */
export const joinPath = (keys: readonly string[]): string =>
  keys.map((key) => key.replace(/[\\.]/g, "\\$&")).join(".");

/** Splits a name from `joinPath`. A backslash before any other character is a plain backslash. */
export const splitPath = (path: string): string[] => {
  const keys = [""];
  for (const [token, escaped] of path.matchAll(/\\([\\.])|./gsu)) {
    if (token === ".") keys.push("");
    else keys[keys.length - 1] += escaped ?? token;
  }
  return keys;
};

/** The value at a path; undefined if an object on the path is missing. */
export const valueAt = (record: unknown, keys: readonly string[]): unknown =>
  keys.reduce<unknown>(
    (value, key) => (isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    record,
  );

/** Sets the value at a path, and creates the objects on the path. */
export const setAt = (record: Fields, keys: readonly string[], value: unknown): void => {
  const last = keys.length - 1;
  let target = record;
  for (let depth = 0; depth < last; depth += 1) {
    const key = keys[depth] ?? "";
    const inner = target[key];
    const next: Fields = isPlainObject(inner) ? inner : {};
    target[key] = next;
    target = next;
  }
  target[keys[last] ?? ""] = value;
};

/**
 * Lists every value in a record, at any depth, with its path. A plain object is not listed itself, only its values.
 *
 * @throws ValidationError for an object with a cycle.
 */
export function* leavesOf(
  record: Fields,
  above: readonly string[] = [],
  around: readonly Fields[] = [],
): Generator<[string[], unknown]> {
  const within = [...around, record];
  for (const [key, value] of Object.entries(record)) {
    const keys = [...above, key];
    if (!isPlainObject(value)) yield [keys, value];
    else if (!within.includes(value)) yield* leavesOf(value, keys, within);
    else throw new ValidationError(`${joinPath(keys)} cannot be written (the object contains itself)`);
  }
}
