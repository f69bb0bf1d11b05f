import { ValidationError } from "../errors.ts";
import { isDate } from "../runtime/values.ts";
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

/** Whether an unquoted cell of this text would be read as a number, true or false, or a list. */
const readsAsOther = (text: string): boolean =>
  text === "true" ||
  text === "false" ||
  text.includes(";") ||
  (text.trim() !== "" && String(Number(text)) === text && Number.isFinite(Number(text)));

const readsAsJson = (text: string): boolean => {
  if (!/^'*[["{]/.test(text)) return false;
  try {
    return !["number", "boolean"].includes(typeof JSON.parse(text));
  } catch {
    return false;
  }
};

const isPlainItem = (item: unknown): boolean =>
  typeof item === "string" && /^[\p{L}\p{N}_@ .-]+$/u.test(item) && !/^[-@]/.test(item);

/** A cell, and whether it must be quoted so that `readContacts` reads the text that it is. */
export interface WrittenCell {
  readonly cell: string | number | bigint;
  readonly isQuoted: boolean;
}

/** A value as a cell that `readContacts` reads as the same value. @throws as `cellOf`. */
export const typedCellOf = (value: unknown, path: string, delimiter: string): WrittenCell => {
  if (typeof value === "string") {
    // Quotes alone do not tell text from JSON, which cannot be written without.
    const isEncoded = path.startsWith("customFields.") && readsAsJson(value);
    return { cell: isEncoded ? JSON.stringify(value) : value, isQuoted: readsAsOther(value) };
  }
  // A list of one, of numbers, or of texts that need quotes would not be read as a list.
  const isList = Array.isArray(value) && value.length > 0 && path.startsWith("customFields.");
  const needsJson = isList && (value.length === 1 || delimiter === ";" || !value.every(isPlainItem));
  return { cell: cellOf(needsJson ? { toJSON: () => value } : value, path), isQuoted: false };
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
