import { createHash } from "node:crypto";
import { isDate } from "./values.ts";

// Two links, say, have no field that tells them apart: what JSON writes of them does.
const asWritten = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || !("toJSON" in value)) return value;
  try {
    return typeof value.toJSON === "function" ? value.toJSON() : value;
  } catch {
    return "toJSON throws";
  }
};

// No input is valid that is nested as deep: what lies deeper need not be told apart.
const deepest = 200;

const sortedFields = (value: object): [string, unknown][] =>
  Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));

// Keys in order, so that the same content written in another order is the same content. What JSON cannot carry gets
// a form too: a source may hold such an item, and it is to be refused by name, not by a TypeError.
const canonical = (given: unknown, inside: Set<object>): unknown => {
  if (isDate(given)) return Number.isNaN(given.getTime()) ? "Invalid Date" : given.toISOString();
  const value = asWritten(given);
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol")
    return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (inside.has(value)) return "cycle";
  if (inside.size === deepest) return "nested too deep";
  inside.add(value);
  const written = Array.isArray(value)
    ? value.map((item) => canonical(item, inside))
    : Object.fromEntries(sortedFields(value).map(([key, field]) => [key, canonical(field, inside)]));
  inside.delete(value);
  return written;
};

/** A value as text: the same for the same content, whatever the order of its keys. */
export const contentText = (value: unknown): string =>
  typeof value === "string"
    ? JSON.stringify(value)
    : (JSON.stringify(canonical(value, new Set())) ?? "undefined");

/** An id made of the content alone: the same on every run, on every machine. 128 bits of SHA-256, in hex. */
export const contentHash = (value: unknown): string =>
  createHash("sha256").update(contentText(value)).digest("hex").slice(0, 32);
