import { createHash } from "node:crypto";

// Keys in order, so that the same content written in another order is the same content.
const canonical = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, canonical(field)]);
};

/** An id made of the content alone: the same on every run, on every machine. 128 bits of SHA-256, in hex. */
export const contentId = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(canonical(value)) ?? "undefined")
    .digest("hex")
    .slice(0, 32);
