import { hasLongDigits } from "./values.ts";

/** A whole number in JSON that a double cannot represent, and its path. */
export interface UnsafeNumber {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\],:]/g;

// Compares only the digits before a point. Digits after a point, and numbers with an exponent, were usually written
// from a double, so reading them as a double loses nothing. But a database may write a decimal with up to 38 digits
// before the point.
const isUnsafe = (text: string): boolean => {
  const [, integer] = /^(-?\d{16,})(?:\.\d+)?$/.exec(text) ?? [];
  return integer !== undefined && String(Math.trunc(Number(text))) !== integer;
};

/**
 * Finds the first whole number in a JSON text whose digits `JSON.parse` would change silently; undefined if there is
 * none. Most whole numbers above 2^53 are such numbers. Doesn't find numbers that become infinite, such as 1e999: the
 * check of inputs finds those.
 */
export const findUnsafeNumber = (json: string): UnsafeNumber | undefined => {
  if (!hasLongDigits(json)) return undefined;
  const path: PropertyKey[] = [];
  const isList: boolean[] = [];
  for (const [text] of json.matchAll(token)) {
    const first = text[0];
    if (first === "{" || first === "[") {
      isList.push(first === "[");
      path.push(first === "[" ? 0 : "");
    } else if (first === "}" || first === "]") {
      isList.pop();
      path.pop();
    } else if (first === ",") {
      const last = path.length - 1;
      path[last] = isList.at(-1) ? Number(path[last]) + 1 : "";
    } else if (first === '"') {
      // A string before a colon is a field name. A string that is a value doesn't change the current name.
      const last = path.length - 1;
      if (last >= 0 && isList.at(-1) === false && path[last] === "") path[last] = JSON.parse(text);
    } else if (first !== ":" && isUnsafe(text)) return { path, text };
  }
  return undefined;
};

/** Describes the fault: `properties.order: 1234567890123456781 is too large for a JSON number`. */
export const unsafeIssue = ({
  path,
  text,
}: UnsafeNumber): { readonly path: string; readonly message: string } => ({
  path: path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`))
    .join(""),
  message: `${text} is too large for a JSON number`,
});
