import { createHash } from "node:crypto";
import { messageOf } from "./values.ts";

// Sorts the keys, so that the same content in another order has the same text. A value without a form in JSON gets one,
// too, because a source may contain one.
const inOrder = (_key: string, value: unknown): unknown => {
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol")
    return String(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Converts a value to a text that is the same for the same content, regardless of the order of keys. */
export const contentText = (value: unknown): string => {
  try {
    return JSON.stringify(value, inOrder) ?? "undefined";
  } catch (error) {
    // The value has a cycle, is nested too deeply, or its `toJSON` throws. The check of the item reports its path.
    return messageOf(error);
  }
};

/** 128 bits of the SHA-256 of a text, in 22 characters. */
export const textHash = (text: string): string =>
  createHash("sha256").update(text).digest().toString("base64url", 0, 16);

/**
 * Derives an id from the content alone, so that it is the same on every run and machine: 128 bits of SHA-256, in hex.
 */
export const contentHash = (value: unknown): string =>
  createHash("sha256").update(contentText(value)).digest("hex").slice(0, 32);
