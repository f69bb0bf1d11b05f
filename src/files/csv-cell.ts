import { ValidationError } from "../errors.ts";
import { isDate, messageOf } from "../runtime/values.ts";

// What a spreadsheet may take for the start of a formula, also in full width, behind any apostrophes.
const guarded = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

// csv-stringify guards the others. It leaves the line feed, and texts that have an apostrophe of their own there, which
// the reader would take for a guard.
const unguardedByVendor = /^(?:\n|'+[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20])/;

/** Puts an apostrophe before text that csv-stringify's `escape_formulas` leaves without. */
export const guardFormula = (text: string): string => (unguardedByVendor.test(text) ? `'${text}` : text);

/** Takes away the one apostrophe that the writer, or another program's guard, put there. */
export const unguardFormula = (text: string): string =>
  text.startsWith("'") && guarded.test(text) ? text.slice(1) : text;

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
