import { ValidationError } from "../errors.ts";
import { isDate } from "../runtime/cross-realm.ts";
import { messageOf } from "./message-of.ts";

const isScalar = (value: unknown): boolean =>
  ["string", "number", "boolean", "bigint"].includes(typeof value) && !String(value).includes(";");

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  if (isDate(value)) return value.toISOString();
  // An empty element would be lost between, or instead of, the separators.
  if (Array.isArray(value) && value.every((item) => isScalar(item) && item !== "")) return value.join(";");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

/**
 * A value as a cell: nothing for null, undefined, functions and symbols; a number as it is, so that -5 is not taken for
 * a formula; ISO 8601 for a Date; scalars of an array joined by `;`, and JSON for any other array or object.
 *
 * @throws ValidationError for what has no such text: an invalid Date, an object that refers to itself.
 */
export const cellOf = (value: unknown, column: string): string | number | bigint => {
  if (value === null || ["undefined", "function", "symbol"].includes(typeof value)) return "";
  if (typeof value === "number" || typeof value === "bigint") return value;
  try {
    return textOf(value);
  } catch (cause) {
    throw new ValidationError(`${column} cannot be written (${messageOf(cause)})`, { cause });
  }
};
