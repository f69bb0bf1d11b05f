import { suggestion } from "../runtime/nearest-name.ts";
import { must, type Rule } from "../runtime/rules.ts";
import { isPlainObject, isRecord, isString, shown } from "../runtime/values.ts";
import { joinPath, leavesOf, splitPath } from "./dotted-path.ts";

/** A column of a CSV file: its name in the file, and the path of its cells in a record. */
export interface Column {
  readonly name: string;
  readonly keys: readonly string[];
}

/** A field of a record, and the columns that contain it. The texts of several columns are joined by a space. */
export interface ReadColumn extends Column {
  /** The indexes of the field's cells in a row. */
  readonly cells: readonly number[];
}

/**
 * New names for columns: `{ "E-mail": "email", "First name+Last name": "name", "Internal note": false, "*": false }`. A
 * plus joins columns with a space and leaves out empty cells. `false` leaves out a column. `"*": false` leaves out
 * every column that has no entry here.
 */
export type ColumnNames = Readonly<Record<string, string | false>>;

/**
 * Finds the faults of the fields that the columns fill, in linear time, because a file may have thousands of columns.
 */
const faultsOf = (columns: readonly Column[]): string[] => {
  const seen = new Set<string>();
  const keyOf = (keys: readonly string[]): string => keys.join("\0");
  const all = new Set(columns.map(({ keys }) => keyOf(keys)));
  return columns.flatMap(({ keys }) => {
    const path = keys.join(".");
    const clash = keys.findIndex((_, depth) => depth > 0 && all.has(keyOf(keys.slice(0, depth))));
    const isRepeated = seen.size === seen.add(keyOf(keys)).size;
    return [
      isRepeated ? `${path} appears twice` : "",
      clash < 0 ? "" : `${path} is inside ${keys.slice(0, clash).join(".")}, which has its own column`,
      keys.includes("__proto__") ? `${path} cannot be the name of a field` : "",
    ].filter((fault) => fault !== "");
  });
};

const mustBeField = must("the name of a field, or false", (value) => value === false || isString(value));

/** The rule for the new names of columns in a file to read. */
export const mustBeColumnNames: Rule = (value, option) =>
  isRecord(value)
    ? Object.entries(value).flatMap(([column, field]) =>
        mustBeField(field, `${option}[${JSON.stringify(column)}]`),
      )
    : [`${option} must be { "name in the file": "field" or false }, got ${shown(value)}`];

const blank = /[\s\u200B\uFEFF]/;

/**
 * Removes spaces around a text, including ones that a screen doesn't show. A regular expression would take quadratic time
 * for a text with many spaces in its middle.
 */
export const trimmed = (text: string): string => {
  let [from, to] = [0, text.length];
  while (from < to && blank.test(text.charAt(from))) from += 1;
  while (to > from && blank.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
};

/**
 * Splits the name of a column at dots if it starts with `customFields`. In other names, a dot is part of the name:
 * `Tel.`.
 */
const keysOf = (name: string): string[] => (/^customFields\../.test(name) ? splitPath(name) : [name]);

/** The names of the columns in an entry of `columns`: a single name, or several names with a plus between them. */
export const namesIn = (entry: string, names: readonly string[]): readonly string[] => {
  const name = trimmed(entry);
  return names.includes(name) ? [name] : name.split("+").map(trimmed);
};

/**
 * Reads a header row. Ignores columns without a name: spreadsheets add empty ones at the end, and other programs write
 * row numbers into the first one.
 *
 * @returns the fields of a record with their columns, or why the header cannot be used.
 */
export const columnsOf = (
  header: readonly string[],
  renamed: ColumnNames,
): { readonly columns: readonly ReadColumn[] } | { readonly problem: string } => {
  const names = header.map(trimmed);
  const { "*": others, ...entries } = renamed;
  const used = new Set<string>();
  const columns: ReadColumn[] = [];
  const faults: string[] = [];
  for (const [entry, field] of Object.entries(entries)) {
    const parts = namesIn(entry, names);
    for (const part of parts) used.add(part);
    if (!parts.every((part) => names.includes(part)))
      faults.push(`there is no column ${JSON.stringify(entry)}${suggestion(entry, names)}`);
    else if (field !== false && field !== "") {
      const twice = parts.find((part) => names.indexOf(part) !== names.lastIndexOf(part));
      if (twice !== undefined) faults.push(`${twice} appears twice`);
      const cells = parts.map((part) => names.indexOf(part));
      columns.push({ name: entry, keys: splitPath(field), cells });
    }
  }
  if (others !== undefined && others !== false)
    faults.push('"*" can only be false, which leaves out all other columns');
  for (const [index, name] of names.entries())
    if (!used.has(name) && name !== "" && others !== false)
      columns.push({ name, keys: keysOf(name), cells: [index] });
  // Put the fields into the order of the file.
  columns.sort((a, b) => Number(a.cells[0]) - Number(b.cells[0]));
  faults.push(...faultsOf(columns));
  if (faults.length === 0) return { columns };
  return {
    problem: `${faults.join("; ")}. Change the header, or in code set the option columns: { "name in the file": "field" or false }`,
  };
};

/** The columns to write, in order: paths such as `customFields.plan`, or paths and their names in the header. */
export type WriteColumns = readonly string[] | Readonly<Record<string, string>>;

export const mustBeColumns: Rule = (value, option) => {
  if (typeof value !== "object" || value === null)
    return [`${option} must be ["email"] or { email: "E-mail" }, got ${JSON.stringify(value)}`];
  const names: readonly unknown[] = Object.values(value);
  if (names.length === 0) return [`${option} must name at least one column`];
  if (![...Object.keys(value), ...names].every((text) => typeof text === "string" && text !== ""))
    return [`${option} must contain only non-empty strings`];
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  return twice.map((name) => `${option}: ${name} appears twice`);
};

/** Converts the option `columns`, which must have passed the rule `mustBeColumns`. */
export const columnsFrom = (columns: WriteColumns): Column[] =>
  Object.entries<string>(columns).map(([path, name]) => ({
    name,
    keys: splitPath(Array.isArray(columns) ? name : path),
  }));

const ancestorsOf = (path: string): string[] => {
  const keys = splitPath(path);
  return keys.slice(1).map((_, index) => joinPath(keys.slice(0, index + 1)));
};

/** Collects the fields of records, one record at a time. */
export class ColumnCollector {
  /** Whether each field has a value in any record, keyed by path. */
  readonly #hasValue = new Map<string, boolean>();
  /** The number of records. */
  records = 0;

  add(record: object): void {
    this.records += 1;
    if (!isPlainObject(record)) return;
    for (const [keys, value] of leavesOf(record)) {
      const path = joinPath(keys);
      const hasValue = value !== null && value !== undefined;
      this.#hasValue.set(path, hasValue || this.#hasValue.get(path) === true);
    }
  }

  /** Returns every field in the order of appearance. An object becomes one column per field. */
  columns(): Column[] {
    const hasValue = this.#hasValue;
    // A field may be an object in one record and null in another: it becomes the columns of the object. If the field
    // has another value in some record, it becomes one column, with the objects as JSON.
    const ancestors = new Set([...hasValue.keys()].flatMap(ancestorsOf));
    const paths = [...hasValue.keys()]
      .filter((path) => hasValue.get(path) || !ancestors.has(path))
      .filter((path) => !ancestorsOf(path).some((ancestor) => hasValue.get(ancestor)));
    return columnsFrom(paths);
  }
}
