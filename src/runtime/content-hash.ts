import { createHash } from "node:crypto";
import { asWritten, isDate } from "./values.ts";

// Some objects differ only in their JSON. A URL, for example, has no own fields.
const asJson = (value: unknown): unknown => {
  try {
    return asWritten(value);
  } catch {
    return "toJSON throws";
  }
};

// Valid input is never nested this deep, so deeper content all gets the same form.
const maxDepth = 200;

const sortedFields = (value: object): [string, unknown][] =>
  Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));

// Sorts the keys, so that the same content in another order has the same hash. Values that JSON cannot write get a
// form, too, because a source may contain one. The check of the item then reports the path of that value.
const canonical = (input: unknown, inside: Set<object>): unknown => {
  if (isDate(input)) return Number.isNaN(input.getTime()) ? "Invalid Date" : input.toISOString();
  const value = asJson(input);
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol")
    return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (inside.has(value)) return "cycle";
  if (inside.size === maxDepth) return "nested too deep";
  inside.add(value);
  const written = Array.isArray(value)
    ? value.map((item) => canonical(item, inside))
    : Object.fromEntries(sortedFields(value).map(([key, field]) => [key, canonical(field, inside)]));
  inside.delete(value);
  return written;
};

/** Converts a value to a text that is the same for the same content, regardless of the order of keys. */
export const contentText = (value: unknown): string =>
  typeof value === "string"
    ? JSON.stringify(value)
    : (JSON.stringify(canonical(value, new Set())) ?? "undefined");

/** 128 bits of the SHA-256 of a text, in 22 characters. */
export const textHash = (text: string): string =>
  createHash("sha256").update(text).digest().toString("base64url", 0, 16);

/**
 * Derives an id from the content alone, so that it is the same on every run and machine: 128 bits of SHA-256, in hex.
 */
export const contentHash = (value: unknown): string =>
  createHash("sha256").update(contentText(value)).digest("hex").slice(0, 32);
