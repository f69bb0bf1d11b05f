import { foldedName } from "../runtime/nearest-name.ts";
import { mustBeBoolean, mustBeFunction, mustBeOneOf, mustBeWhole, type Rules } from "../runtime/rules.ts";
import { messageOf } from "../runtime/values.ts";
import { CellFault, formulaText, unguardFormula } from "./csv-cell.ts";
import { type ColumnNames, columnsOf, mustBeColumnNames, type ReadColumn, trimmed } from "./csv-columns.ts";
import { type Row, readRows } from "./csv-rows.ts";
import { setAt } from "./dotted-path.ts";
import { lineError, recordsOf } from "./invalid.ts";
import {
  defaultMaxLineBytes,
  knownOptions,
  mustBeDelimiter,
  type ReadOptions,
  readRules,
} from "./options.ts";
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
   * comma outside quotes, as Excel writes in many countries; or a tab, if the first line has more tabs than commas. A
   * first line such as `sep=;`, which Excel writes, sets the delimiter.
   */
  readonly delimiter?: string | undefined;
  /**
   * New names for columns, also paths such as `contact.email`. `"First name+Last name": "name"` joins columns, `false`
   * leaves out a column, and `"*": false` leaves out all columns without an entry here. Other columns keep their name.
   */
  readonly columns?: ColumnNames | undefined;
  /**
   * The number of lines at the start of the file to skip, such as a title. Default 0. After these lines, blank lines
   * and a line `sep=;` above the header are skipped, too.
   */
  readonly skipLines?: number | undefined;
  /** Called with the names of the columns in the file. If it throws, reading ends with that error. */
  readonly onHeader?: ((names: readonly string[]) => void) | undefined;
  /** Converts a cell. By default, every cell is a string. If it throws, the line is a bad line. */
  readonly cast?: ((cell: string, position: CellPlace) => unknown) | undefined;
  /** The value of an empty cell: no field (`"omit"`, default), or `""`. `cast` gets empty cells only with `"string"`. */
  readonly emptyCells?: "omit" | "string" | undefined;
  /**
   * Whether to remove the apostrophe that `writeCsv` adds before formulas, and the formula around a text such as
   * `="0049"`; default true.
   */
  readonly unescapeFormulas?: boolean | undefined;
}

export const csvRules: Rules = {
  ...readRules,
  delimiter: mustBeDelimiter,
  columns: mustBeColumnNames,
  skipLines: mustBeWhole(0),
  onHeader: mustBeFunction,
  cast: mustBeFunction,
  emptyCells: mustBeOneOf("omit", "string"),
  unescapeFormulas: mustBeBoolean,
};

/** Facts about a file that the reader of contacts knows beyond the options of `readCsv`. */
interface CsvFacts {
  /** Texts that mean an empty cell if they are not quoted. */
  readonly nulls?: readonly string[];
  /** The field that has an address in every record. A row with the name of its column instead is a second header. */
  readonly address?: string;
}

/** The text of a field: the text of its cell, or the joined texts of its cells that are not empty. */
const textOf = (
  { cells, isQuoted }: Row,
  { cells: places }: ReadColumn,
  { unescapeFormulas = true, nulls = [] }: ReadCsvOptions & CsvFacts,
): string => {
  const [first = 0] = places;
  const textAt = (at: number): string => {
    const cell = cells[at] ?? "";
    if (nulls.includes(trimmed(cell)) && isQuoted?.[at] !== true) return "";
    return unescapeFormulas ? unguardFormula(cell) : cell;
  };
  if (places.length === 1) return textAt(first);
  return places
    .map((at) => trimmed(textAt(at)))
    .filter((text) => text !== "")
    .join(" ");
};

const recordOf = (row: Row, columns: readonly ReadColumn[], options: ReadCsvOptions & CsvFacts): object => {
  const { cast, emptyCells = "omit" } = options;
  const record: Record<string, unknown> = {};
  for (const column of columns) {
    const text = textOf(row, column, options);
    if (text === "" && emptyCells === "omit") continue;
    const at = column.cells[0] ?? 0;
    const isQuoted = row.isQuoted?.[at] === true || formulaText.test(row.cells[at] ?? "");
    const value = cast === undefined ? text : cast(text, { column: column.name, line: row.line, isQuoted });
    if (value !== undefined) setAt(record, column.keys, value);
  }
  return record;
};

const cellCount = (count: number): string => `${count} ${count === 1 ? "cell" : "cells"}`;
const columnCount = (count: number): string => `${count} ${count === 1 ? "column" : "columns"}`;

const isJson = /^\s*(\[\s*(["{[]|$)|\{\s*("|$))/;
const jsonProblem = "this is JSON, not CSV: read it as NDJSON, or give the file a name that ends in .ndjson";

const nulProblem =
  "it has NUL characters, as UTF-16 and UTF-32 have. Set the encoding to utf-16le or utf-16be, or save the file as UTF-8";

/**
 * Why a row with too few or too many cells, or with text in one of the nameless columns, cannot be read; undefined if
 * spreadsheets write such rows.
 */
const widthProblem = (
  { cells, isQuoted }: Row,
  width: number,
  nameless: readonly number[],
): string | undefined => {
  // MySQL writes a backslash before a delimiter or line break in a cell. A line break can only have cut the last cell of a
  // short row, and a delimiter can only have split the other cells of a long row.
  const isCut = (cell: string, index: number): boolean =>
    (index === cells.length - 1) === cells.length < width &&
    cell.endsWith("\\") &&
    isQuoted?.[index] !== true;
  if (cells.length !== width && cells.some(isCut))
    return `this row has ${cellCount(cells.length)}, but the header has ${columnCount(width)}. A backslash does not escape a delimiter or a line break: export the cells in quotes`;
  // Spreadsheets leave out empty cells at the end of a row, or add some.
  if (cells.length > width && cells.slice(width).some((cell) => trimmed(cell) !== ""))
    return `this row has ${cellCount(cells.length)}, but the header has ${columnCount(width)}`;
  const lost = nameless.find((at) => trimmed(cells[at] ?? "") !== "");
  return lost === undefined
    ? undefined
    : `cell ${lost + 1} is not empty, but column ${lost + 1} of the header has no name. If a cell contains the delimiter, quote that cell. Otherwise, name the column`;
};

const isAddress = (cell: string | undefined): boolean =>
  /^\s*"?[^\s"@]+@[^\s"@]+\.[^\s"@]+"?\s*$/.test(cell ?? "");

const strayQuote =
  'a stray quote seems to join several rows. If a cell contains a quote, write it as "" and put the cell in quotes';

const hasSpaces = (cells: readonly string[]): boolean => cells.slice(1).some((cell) => cell.startsWith(" "));

/**
 * Whether each line of a row is almost surely a row itself, because a program wrote quotes as they are: each has the
 * cells of the header, and the first and another have an address in the same column. Less is not enough, because the
 * lines of a note may also contain commas and addresses. In a note, a space follows the comma.
 */
const isJoined = (lines: Row["lines"] = [], width: number): boolean => {
  const filled = lines.filter((cells) => cells.some((cell) => trimmed(cell) !== ""));
  if (width < 2 || filled.some((cells) => cells.length !== width)) return false;
  const [first = [], ...others] = filled;
  // Some programs write a space after each delimiter, so the first line has spaces, too.
  const rows = others.filter((cells) => !hasSpaces(cells) || hasSpaces(first));
  return first.some((cell, at) => isAddress(cell) && rows.some((cells) => isAddress(cells[at])));
};

/** What the header row says about the other rows. */
interface Header {
  readonly columns: readonly ReadColumn[];
  /** The number of cells in a row. */
  readonly width: number;
  /** The indexes of the columns whose cells must be empty. */
  readonly nameless: readonly number[];
  /** The names of all columns without differences in spelling. */
  readonly spellings: readonly string[];
  /** The index of the first cell with the address; undefined if there is none. */
  readonly addressAt: number | undefined;
}

const spellingOf = (cell: string): string => foldedName(trimmed(unguardFormula(cell)));

/** Reads the header row. @throws ValidationError even with `onInvalid`, because no later line can be read without columns. */
const headerOf = (row: Row, file: string, options: ReadCsvOptions & CsvFacts): Header => {
  const { line, cells, text } = row;
  const { columns: renamed = {}, unescapeFormulas = true, onHeader, address } = options;
  const problem = isJson.test(text) ? jsonProblem : text.includes("\0") ? nulProblem : row.problem;
  const names = unescapeFormulas ? cells.map(unguardFormula) : cells;
  if (problem === undefined) onHeader?.(names.map(trimmed));
  const read = problem === undefined ? columnsOf(names, renamed) : { problem };
  if ("problem" in read) throw lineError(file, line, { problem: `header: ${read.problem}` });
  const { columns } = read;
  return {
    columns,
    width: cells.length,
    // pandas and R write row numbers into a first column without a name.
    nameless: names.flatMap((name, at) => (at > 0 && trimmed(name) === "" && !("" in renamed) ? [at] : [])),
    spellings: cells.map(spellingOf),
    addressAt: columns.find(({ keys: [key, ...more] }) => key === address && more.length === 0)?.cells[0],
  };
};

const secondHeader =
  "this line is a second header with other columns, as if several files were joined. Split the file here, and import each part separately. If the line is not a header, delete it";

/** Converts rows to records. The first row names the columns. */
const rowParser = (file: string, options: ReadCsvOptions & CsvFacts) => {
  let header: Header | undefined;
  /** Whether a row has the name of the column with the address, or of its field, where other rows have an address. */
  const isHeader = ({ cells }: Row, { spellings, addressAt = -1 }: Header): boolean => {
    const text = spellingOf(cells[addressAt] ?? "");
    return text !== "" && [spellings[addressAt], options.address].includes(text);
  };
  return (row: Row) => {
    if (header === undefined) {
      header = headerOf(row, file, options);
      return undefined;
    }
    const { columns, width, nameless, spellings } = header;
    const { line, lines, cells } = row;
    if (isHeader(row, header)) {
      // Columns that are left out may differ.
      const used = columns.flatMap((column) => column.cells);
      if (!used.every((at) => spellings[at] === spellingOf(cells[at] ?? "")))
        throw lineError(file, line, { problem: secondHeader });
      return { problem: "this is the header again, as in a file that was joined from several" };
    }
    const problem = isJoined(lines, width) ? strayQuote : (row.problem ?? widthProblem(row, width, nameless));
    const span = lines === undefined ? "" : ` (this row spans lines ${line} to ${line + lines.length - 1})`;
    if (problem !== undefined) return { problem: problem + span };
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
 * @throws ValidationError for a bad line (quotes, number of cells, text under a nameless column, not UTF-8, a `cast`
 * that throws), unless you pass `onInvalid`; always for an unusable header and a record longer than `maxLineBytes`. The
 * error names the file and the line.
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
): AsyncGenerator<T> => csvRecords<T>(source, knownOptions<ReadCsvOptions>("readCsv", options, csvRules));

/** Reads the records of a file, with options that the rules have accepted. */
export const csvRecords = <T extends object = Record<string, unknown>>(
  source: FileSource,
  options: ReadCsvOptions & CsvFacts,
): AsyncGenerator<T> => {
  const { delimiter, maxLineBytes = defaultMaxLineBytes, skipLines = 0 } = options;
  const { chunks, ...opened } = openSource(source, options);
  const rows = readRows(chunks, { ...opened, delimiter, maxLineBytes, skipLines });
  // The caller chooses the type of the records, according to the header, `columns` and `cast`.
  return recordsOf(
    opened.name,
    rows,
    rowParser(opened.name, options),
    options.onInvalid,
  ) as AsyncGenerator<T>;
};
