import { isCallback, isFlag, isOneOf, must, type Rules } from "../runtime/rules.ts";
import { isRecord, messageOf } from "../runtime/values.ts";
import { unguardFormula } from "./csv-cell.ts";
import { type Column, type ColumnNames, columnsOf } from "./csv-columns.ts";
import { type Row, readRows } from "./csv-rows.ts";
import { setAt } from "./dotted-path.ts";
import { lineError, recordsOf } from "./invalid.ts";
import { defaultMaxLineBytes, isDelimiter, knownOptions, type ReadOptions, readRules } from "./options.ts";
import { type FileSource, openSource } from "./source.ts";

/** The position of a cell, for `cast`. */
export interface CellPlace {
  /** The name of the column in the file. */
  readonly column: string;
  /** The first line of its record, counted from 1. */
  readonly line: number;
  /** Whether the cell is quoted in the file. */
  readonly isQuoted: boolean;
}

/** Options for reading CSV. */
export interface ReadCsvOptions extends ReadOptions {
  /**
   * The character between cells. Default: a comma; or a semicolon or tab, if the first line has those and no comma
   * outside quotes, as Excel writes in many countries. A first line `sep=;`, as Excel writes, is no record, and tells it.
   */
  readonly delimiter?: string | undefined;
  /** New names for columns, also dotted ones; `false` leaves a column out. Other columns keep their name. */
  readonly columns?: ColumnNames | undefined;
  /** Converts a cell. By default, every cell is a string. If it throws, the line is a bad line. */
  readonly cast?: ((cell: string, place: CellPlace) => unknown) | undefined;
  /**
   * The value of an empty cell: no field at all (`"omit"`, default), `""` or `null`. `cast` gets empty cells only with
   * `"string"`.
   */
  readonly emptyCells?: "omit" | "string" | "null" | undefined;
  /** Whether to remove the apostrophe that `writeCsv` adds before formulas; default true. */
  readonly unescapeFormulas?: boolean | undefined;
}

const rules: Rules = {
  ...readRules,
  delimiter: isDelimiter,
  columns: must('{ "name in the file": "field" or false }', isRecord),
  cast: isCallback,
  emptyCells: isOneOf("omit", "string", "null"),
  unescapeFormulas: isFlag,
};

type Columns = readonly (Column | undefined)[];

const recordOf = (row: Row, columns: Columns, options: ReadCsvOptions): object => {
  const { cast, emptyCells = "omit", unescapeFormulas = true } = options;
  const record: Record<string, unknown> = {};
  for (let at = 0; at < columns.length; at += 1) {
    const column = columns[at];
    const cell = row.cells[at] ?? "";
    if (column === undefined || (cell === "" && emptyCells === "omit")) continue;
    const text = unescapeFormulas ? unguardFormula(cell) : cell;
    const isNull = cell === "" && emptyCells === "null";
    const value =
      isNull || !cast
        ? text
        : cast(text, { column: column.name, line: row.line, isQuoted: row.isQuoted?.[at] ?? false });
    if (value !== undefined) setAt(record, column.keys, isNull ? null : value);
  }
  return record;
};

/** Makes records of rows. The first row names the columns. */
const rowParser = (name: string, options: ReadCsvOptions) => {
  const { columns: renamed = {}, unescapeFormulas = true } = options;
  let columns: Columns | undefined;
  return (row: Row) => {
    if (columns === undefined) {
      const { line, cells, problem } = row;
      const names = unescapeFormulas ? cells.map(unguardFormula) : cells;
      const read = problem === undefined ? columnsOf(names, renamed) : { problem };
      // Thrown even with onInvalid: without columns, no later line can be read.
      if ("problem" in read) throw lineError(name, line, { problem: `header: ${read.problem}` });
      columns = read.columns;
      return undefined;
    }
    if (row.problem !== undefined) return { problem: row.problem };
    const { length } = row.cells;
    if (length !== columns.length)
      return { problem: `${length} cells where the header has ${columns.length} columns` };
    try {
      return { record: recordOf(row, columns, options) };
    } catch (cause) {
      return { problem: `cast failed (${messageOf(cause)})`, cause };
    }
  };
};

/**
 * Reads CSV, one record at a time, with constant memory.
 *
 * The first row names the fields. `customFields.plan` becomes `{ customFields: { plan } }`; write a dot that belongs to a
 * name as `\.`. Values are strings unless `cast` converts them. Lines end with `\n` or `\r\n`, also mixed, and
 * quoted cells may contain line ends. A byte order mark, blank lines and a missing last line end are accepted. Gzip is
 * recognized by the first bytes; a name that ends with `.gz` requires it. `break` closes the source.
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
  const known = knownOptions<ReadCsvOptions>("readCsv", options, rules);
  const { delimiter, maxLineBytes = defaultMaxLineBytes } = known;
  const { name, chunks } = openSource(source, known.name);
  const rows = readRows(chunks, { name, delimiter, maxLineBytes });
  // The type of the records is up to the caller, with header, `columns` and `cast`.
  return recordsOf(name, rows, rowParser(name, known), known.onInvalid) as AsyncGenerator<T>;
};
