import { ValidationError } from "../errors.ts";
import { findUnsafeNumber } from "../runtime/unsafe-numbers.ts";
import { isDate, messageOf, parsedJson } from "../runtime/values.ts";
import { trimmed } from "./csv-columns.ts";
import { unsafeProblem } from "./invalid.ts";

// Characters that a spreadsheet may read as the start of a formula, also in full width, after any apostrophes.
const formulaStart = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** Adds an apostrophe to text that a spreadsheet may run, or whose own apostrophe the reader would remove. */
export const guardFormula = (text: string): string => (formulaStart.test(text) ? `'${text}` : text);

/** A text that another program has written as a formula, so that Excel keeps leading zeros: `="0049"`. */
export const formulaText = /^="((?:[^"]|"")*)"$/;

/** Removes the apostrophe that the writer or another program has added. Also takes a text out of its formula. */
export const unguardFormula = (text: string): string =>
  text.startsWith("'") && formulaStart.test(text)
    ? text.slice(1)
    : (formulaText.exec(text)?.[1]?.replaceAll('""', '"') ?? text);

/** How databases write null in a cell that is not quoted. */
export const nullTexts: readonly string[] = ["\\N", "NULL", "null"];

const isScalar = (value: unknown): boolean =>
  ["string", "number", "boolean", "bigint"].includes(typeof value) && !String(value).includes(";");

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  if (isDate(value)) return value.toISOString();
  // An array with an empty element becomes JSON, because the element would be lost between separators.
  if (Array.isArray(value) && value.every((item) => isScalar(item) && item !== "")) return value.join(";");
  // A toJSON may return undefined.
  return typeof value === "object" ? (JSON.stringify(value) ?? "") : String(value);
};

/** The value of an unquoted cell of a custom field. */
export const plainIn = (cell: string): unknown => {
  // Spreadsheets write booleans in capitals.
  if (/^(true|false)$/i.test(cell)) return cell.toLowerCase() === "true";
  // Only the canonical form of a number is a number: 007, 1.0 and +49 stay text.
  if (cell !== "" && String(Number(cell)) === cell && Number.isFinite(Number(cell))) return Number(cell);
  return cell.includes(";") ? cell.split(";") : cell;
};

/**
 * Whether a cell is a number that a spreadsheet shortened, as it shortens a phone number: `4.91701E+11`. The canonical
 * form of a number, such as `1e+21`, has all digits.
 */
export const isShortened = (cell: string): boolean =>
  /^[+-]?\d([.,]\d+)?e[+-]\d+$/i.test(cell) && plainIn(cell) === cell;

/** Why a cell cannot be read as its column's type. */
export class CellFault extends Error {}

/**
 * Parses a cell that contains an object, an array or a text as JSON. Returns undefined for any other cell.
 *
 * @throws CellFault for a number that JSON cannot carry.
 */
export const jsonIn = (cell: string, path: string): unknown => {
  const value = /^[["{]/.test(cell) ? parsedJson(cell) : undefined;
  const unsafe = value === undefined ? undefined : findUnsafeNumber(cell);
  if (unsafe !== undefined)
    throw new CellFault(unsafeProblem({ ...unsafe, path: [...path.split("."), ...unsafe.path] }));
  return value;
};

// An item must not begin or end with a space, because the reader removes spaces around a cell.
const isPlainItem = (item: unknown): boolean =>
  typeof item === "string" && /^[\p{L}\p{N}_.]([\p{L}\p{N}_@ .-]*[\p{L}\p{N}_@.-])?$/u.test(item);

/** A cell, and whether it must be quoted so that `readContacts` reads it as text. */
export interface WrittenCell {
  readonly cell: string | number | bigint;
  readonly isQuoted: boolean;
}

/** Writes a value as a cell that `readContacts` reads as the same value. @throws as `cellOf` does. */
export const typedCellOf = (value: unknown, path: string, delimiter: string): WrittenCell => {
  if (typeof value === "string") {
    // Quotes alone cannot distinguish text from JSON, because JSON always needs quotes.
    const isEncoded =
      path.startsWith("customFields.") && /^[["{]/.test(value) && parsedJson(value) !== undefined;
    // The reader removes spaces around an unquoted cell, and refuses a shortened number.
    const isQuoted =
      plainIn(value) !== value || trimmed(value) !== value || nullTexts.includes(value) || isShortened(value);
    return { cell: isEncoded ? JSON.stringify(value) : value, isQuoted };
  }
  // Joined by `;`, a list with one element, with numbers, or with texts that need quotes would not be read as the same
  // list. If `;` is the delimiter, every joined list needs quotes.
  const isList = Array.isArray(value) && value.length > 0 && path.startsWith("customFields.");
  const needsJson = isList && (value.length === 1 || delimiter === ";" || !value.every(isPlainItem));
  return { cell: cellOf(needsJson ? { toJSON: () => value } : value, path), isQuoted: false };
};

/**
 * Writes a value as a cell: empty for null, undefined, functions and symbols; a number as it is, because -5 is not a
 * formula; a Date in ISO 8601; the scalars of an array joined by `;`; any other array or object as JSON.
 *
 * @throws ValidationError for a value that has no such text, such as an invalid Date or an object with a cycle.
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
