import { ValidationError } from "../errors.ts";
import { isDate } from "../runtime/cross-realm.ts";
import { guardFormula } from "./formulas.ts";

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
 * A value as the text of a cell: nothing for null, undefined, functions and symbols; ISO 8601 for a Date; scalars
 * of an array joined by `;`, and JSON for any other array or object.
 *
 * @throws ValidationError for what has no such text: an invalid Date, an object that refers to itself.
 */
export const cellOf = (value: unknown, column: string, isGuarded: boolean): string => {
  if (value === null || ["undefined", "function", "symbol"].includes(typeof value)) return "";
  // A number is no formula, and -5 must stay one.
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  try {
    const text = textOf(value);
    return isGuarded ? guardFormula(text) : text;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ValidationError(`${column} cannot be written (${reason})`, { cause });
  }
};
