import { isCallback, isFlag, isOneOf, isWhole, must, type Rules } from "../runtime/rules.ts";
import { isRecord, messageOf } from "../runtime/values.ts";
import { CellFault, unguardFormula } from "./csv-cell.ts";
import { type ColumnNames, columnsOf, type ReadColumn, trimmed } from "./csv-columns.ts";
import { type Row, readRows } from "./csv-rows.ts";
import { setAt } from "./dotted-path.ts";
import { lineError, recordsOf } from "./invalid.ts";
import { defaultMaxLineBytes, isDelimiter, knownOptions, type ReadOptions, readRules } from "./options.ts";
import { type FileSource, openSource } from "./source.ts";

/** The position of a cell, for `cast`. */
export interface CellPlace {
  /** The name of the column in the file. */
  readonly column: string;
  /** The number of the record's first line, counted from 1. */
  readonly line: number;
  /** Whether the cell is quoted in the file. */
  readonly isQuoted: boolean;
}

/** Options for reading CSV. */
export interface ReadCsvOptions extends ReadOptions {
  /**
   * The character between cells. Default: a comma; or a semicolon, tab or pipe, if the first line has those and no
   * comma outside quotes, as Excel writes in many countries. A first line such as `sep=;`, which Excel writes, sets the
   * delimiter.
   */
  readonly delimiter?: string | undefined;
  /**
   * New names for columns, also paths such as `contact.email`. `"First name+Last name": "name"` joins columns, `false`
   * leaves out a column, and `"*": false` leaves out all columns without an entry here. Other columns keep their name.
   */
  readonly columns?: ColumnNames | undefined;
  /**
   * The number of lines above the header to skip, such as a title. Default 0. Don't count a line `sep=;` and blank
   * lines.
   */
  readonly skipLines?: number | undefined;
  /** Called with the names of the columns in the file. If it throws, reading ends with that error. */
  readonly onHeader?: ((names: readonly string[]) => void) | undefined;
  /** Converts a cell. By default, every cell is a string. If it throws, the line is a bad line. */
  readonly cast?: ((cell: string, position: CellPlace) => unknown) | undefined;
  /**
   * The value of an empty cell: no field (`"omit"`, default), `""` or `null`. `cast` gets empty cells only with
   * `"string"`.
   */
  readonly emptyCells?: "omit" | "string" | "null" | undefined;
  /** Whether to remove the apostrophe that `writeCsv` adds before formulas; default true. */
  readonly unescapeFormulas?: boolean | undefined;
}

/** The rules of the options. */
export const csvRules: Rules = {
  ...readRules,
  delimiter: isDelimiter,
  columns: must('{ "name in the file": "field" or false }', isRecord),
  skipLines: isWhole(0),
  onHeader: isCallback,
  cast: isCallback,
  emptyCells: isOneOf("omit", "string", "null"),
  unescapeFormulas: isFlag,
};

/** The text of a field: that of its cell, or of its non-empty cells, joined by spaces. */
const textOf = (cells: readonly string[], { cells: indexes }: ReadColumn): string =>
  indexes.length === 1
    ? (cells[indexes[0] ?? 0] ?? "")
    : indexes
        .map((index) => trimmed(cells[index] ?? ""))
        .filter((cell) => cell !== "")
        .join(" ");

const recordOf = (row: Row, columns: readonly ReadColumn[], options: ReadCsvOptions): object => {
  const { cast, emptyCells = "omit", unescapeFormulas = true } = options;
  const record: Record<string, unknown> = {};
  for (const column of columns) {
    const cell = textOf(row.cells, column);
    if (cell === "" && emptyCells === "omit") continue;
    const text = unescapeFormulas ? unguardFormula(cell) : cell;
    const isNull = cell === "" && emptyCells === "null";
    const isQuoted = row.isQuoted?.[column.cells[0] ?? 0] ?? false;
    const value = isNull || !cast ? text : cast(text, { column: column.name, line: row.line, isQuoted });
    if (value !== undefined) setAt(record, column.keys, isNull ? null : value);
  }
  return record;
};

const cellCount = (count: number): string => `${count} ${count === 1 ? "cell" : "cells"}`;
const columnCount = (count: number): string => `${count} ${count === 1 ? "column" : "columns"}`;

const isJson = /^\s*(\[\s*(["{[]|$)|\{\s*("|$))/;
const jsonProblem = "this is JSON, not CSV: read it as NDJSON, or give the file a name that ends in .ndjson";

/** Converts rows to records. The first row names the columns. */
const rowParser = (name: string, options: ReadCsvOptions) => {
  const { columns: renamed = {}, unescapeFormulas = true, onHeader } = options;
  let columns: readonly ReadColumn[] | undefined;
  let width = 0;
  return (row: Row) => {
    if (columns === undefined) {
      const { line, cells, text } = row;
      const problem = isJson.test(text) ? jsonProblem : row.problem;
      const names = unescapeFormulas ? cells.map(unguardFormula) : cells;
      if (problem === undefined) onHeader?.(names.map(trimmed));
      const read = problem === undefined ? columnsOf(names, renamed) : { problem };
      // Throw even with onInvalid, because no later line can be read without columns.
      if ("problem" in read) throw lineError(name, line, { problem: `header: ${read.problem}` });
      columns = read.columns;
      width = cells.length;
      return undefined;
    }
    if (row.problem !== undefined) return { problem: row.problem };
    const { cells } = row;
    // Spreadsheets leave out empty cells at the end of a row, or add some.
    if (cells.length > width && cells.slice(width).some((cell) => trimmed(cell) !== ""))
      return {
        problem: `this row has ${cellCount(cells.length)}, but the header has ${columnCount(width)}`,
      };
    try {
      return { record: recordOf(row, columns, options) };
    } catch (cause) {
      if (cause instanceof CellFault) return { problem: cause.message };
      return { problem: `cast failed (${messageOf(cause)})`, cause };
    }
  };
};

/**
 * Reads CSV, one record at a time, with constant memory.
 *
 * The first row names the fields. `customFields.plan` becomes `{ customFields: { plan } }`; any other dot is part of a
 * name. Values are strings unless `cast` converts them. Lines end with `\n`, `\r\n` or `\r`, also mixed, and quoted
 * cells may contain line ends. A byte order mark, blank lines, cells that are missing at the end of a row, and a
 * missing last line end are accepted. Gzip is recognized by the first bytes; a name that ends with `.gz` requires it.
 * `break` closes the source.
 *
 * @returns one object per record, in the order of the file.
 * @throws ValidationError for a bad line (quotes, number of cells, not UTF-8, a `cast` that throws), unless you pass
 * `onInvalid`; always for an unusable header and a record longer than `maxLineBytes`. It names the file and the line.
 * @throws ConfigurationError for an unknown option, and when a file cannot be opened or unpacked. A stream that fails
 * rejects with its own error.
 * @example
 * ```ts
 * import type { ContactInput } from "touchpoint-sdk";
 * import { readCsv } from "touchpoint-sdk/files";
 *
 * const contacts = readCsv<ContactInput>("contacts.csv", {
 *   columns: { "E-mail": "email", "Internal note": false },
 *   cast: (cell, { column }) => (column === "listIds" ? cell.split(";") : cell),
 * });
 * await client.contacts.import(contacts, { checkpoint: "contacts.checkpoint" });
 * ```
 */
export const readCsv = <T extends object = Record<string, unknown>>(
  source: FileSource,
  options?: ReadCsvOptions,
): AsyncGenerator<T> => {
  const checked = knownOptions<ReadCsvOptions>("readCsv", options, csvRules);
  const { delimiter, maxLineBytes = defaultMaxLineBytes, skipLines = 0 } = checked;
  const { name, chunks } = openSource(source, checked);
  const rows = readRows(chunks, { name, delimiter, maxLineBytes, skipLines });
  // The caller chooses the type of the records, according to the header, `columns` and `cast`.
  return recordsOf(name, rows, rowParser(name, checked), checked.onInvalid) as AsyncGenerator<T>;
};
