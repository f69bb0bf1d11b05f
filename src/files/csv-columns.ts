import { suggestion } from "../runtime/nearest-name.ts";
import type { Rule } from "../runtime/rules.ts";
import { isPlainObject } from "../runtime/values.ts";
import { joinPath, leavesOf, splitPath } from "./dotted-path.ts";

/** A column of a CSV file: its name in the file, and the path of its cells in a record. */
export interface Column {
  readonly name: string;
  readonly keys: readonly string[];
}

/** A field of a record, and the columns that it is read from: several are joined by a blank. */
export interface ReadColumn extends Column {
  /** The indexes of its cells in a row. */
  readonly cells: readonly number[];
}

/**
 * New names for columns: `{ "E-mail": "email", "First name+Last name": "name", "Internal note": false, "*": false }`. A plus
 * joins columns by a blank and leaves empty cells out. `false` leaves a column out, and `"*": false` every column without
 * a name here.
 */
export type ColumnNames = Readonly<Record<string, string | false>>;

/**
 * The faults of the fields that the columns fill. Linear in the number of columns, of which a file may have thousands.
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
      clash < 0 ? "" : `${path} lies inside ${keys.slice(0, clash).join(".")}, which has a column of its own`,
      keys.includes("__proto__") ? `${path} cannot be the name of a field` : "",
    ].filter((fault) => fault !== "");
  });
};

const outerBlanks = /^[\s\u200B\uFEFF]+|[\s\u200B\uFEFF]+$/g;

/** A text without the blanks around it, also those that a screen does not show. */
export const trimmed = (text: string): string => text.replace(outerBlanks, "");

/** A dot in the name of a column makes a path only below `customFields`; elsewhere it is part of the name: `Tel.`. */
const keysOf = (name: string): string[] => (/^customFields\../.test(name) ? splitPath(name) : [name]);

/** The columns that an entry of `columns` names: one of this name, or several with a plus between them. */
const cellsOf = (entry: string, names: readonly string[]): readonly number[] | undefined => {
  const at = names.indexOf(entry);
  if (at >= 0) return [at];
  const parts = entry.split("+").map((part) => names.indexOf(trimmed(part)));
  return parts.length > 1 && !parts.includes(-1) ? parts : undefined;
};

/**
 * Reads a header row. Ignores columns without a name, because spreadsheets add such columns at the end.
 *
 * @returns the fields of a record with the columns that they come from; or why the header cannot be used.
 */
export const columnsOf = (
  header: readonly string[],
  renamed: ColumnNames,
): { readonly columns: readonly ReadColumn[] } | { readonly problem: string } => {
  const names = header.map(trimmed);
  const { "*": others, ...entries } = renamed;
  const mapped = Object.entries(entries).map(
    ([name, field]) => [name, field, cellsOf(trimmed(name), names)] as const,
  );
  const used = new Set(mapped.flatMap(([, , cells]) => cells ?? []));
  const columns: ReadColumn[] = [];
  for (const [at, name] of names.entries())
    if (!used.has(at) && name !== "" && others !== false)
      columns.push({ name, keys: keysOf(name), cells: [at] });
  for (const [name, field, cells = []] of mapped)
    if (field !== false && field !== "" && cells.length > 0)
      columns.push({ name, keys: splitPath(field), cells });
  // In the order of the file.
  columns.sort((a, b) => Number(a.cells[0]) - Number(b.cells[0]));
  const faults = [
    ...mapped.flatMap(([name, , cells]) =>
      cells === undefined ? [`there is no column ${JSON.stringify(name)}${suggestion(name, names)}`] : [],
    ),
    ...(others === undefined || others === false ? [] : ['"*" can only leave columns out: "*": false']),
    ...faultsOf(columns),
  ];
  if (faults.length === 0) return { columns };
  return {
    problem: `${faults.join("; ")}. Change the header, or set in code the option columns: { "name in the file": "field" or false }`,
  };
};

/** The columns to write, in order: paths such as `customFields.plan`, or paths and their names in the header. */
export type WriteColumns = readonly string[] | Readonly<Record<string, string>>;

export const areColumns: Rule = (value, option) => {
  if (typeof value !== "object" || value === null)
    return [`${option} must be ["email"] or { email: "E-mail" }, got ${JSON.stringify(value)}`];
  const names: readonly unknown[] = Object.values(value);
  if (names.length === 0) return [`${option} must name at least one column`];
  if (![...Object.keys(value), ...names].every((text) => typeof text === "string" && text !== ""))
    return [`${option} must be texts that are not empty`];
  const twice = names.filter((name, index) => names.indexOf(name) < index);
  return twice.map((name) => `${option}: ${name} appears twice`);
};

/** The columns that fit the rule. */
export const columnsFrom = (columns: WriteColumns): Column[] =>
  Object.entries<string>(columns).map(([path, name]) => ({
    name,
    keys: splitPath(Array.isArray(columns) ? name : path),
  }));

const ancestorsOf = (path: string): string[] => {
  const keys = splitPath(path);
  return keys.slice(1).map((_, index) => joinPath(keys.slice(0, index + 1)));
};

/** Collects the fields of records, one record after the other. */
export class FoundColumns {
  /** Whether a field has a value in any record, by its path. */
  readonly #hasValue = new Map<string, boolean>();
  /** How many there were. */
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

  /** Every field, in the order of appearance; an object becomes one column per field. */
  columns(): Column[] {
    const hasValue = this.#hasValue;
    // A field that is an object in one record and null in another becomes the object's columns. If it also has other
    // values, it becomes one column, with the object as JSON.
    const isAbove = new Set([...hasValue.keys()].flatMap(ancestorsOf));
    const paths = [...hasValue.keys()]
      .filter((path) => hasValue.get(path) || !isAbove.has(path))
      .filter((path) => !ancestorsOf(path).some((above) => hasValue.get(above)));
    return columnsFrom(paths);
  }
}
