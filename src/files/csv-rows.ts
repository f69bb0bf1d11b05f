import { readLines, withoutMark } from "../runtime/lines.ts";
import { lineError, problemOf } from "./invalid.ts";

/** One CSV record: a line, or several if a quoted cell contains line breaks. */
export interface Row {
  /** The number of the first line of the row, counted from 1. */
  readonly line: number;
  /** The text of the row in the file, without the last line break. */
  readonly text: string;
  readonly cells: readonly string[];
  /** Which cells were quoted; undefined if no cell was quoted. */
  readonly isQuoted?: readonly boolean[];
  /** Why the row has no cells; undefined if it has cells. */
  readonly problem?: string;
  /** The cells of each line if quotes had no meaning; undefined if the row has only one line. */
  readonly lines?: readonly (readonly string[])[];
}

interface RowOptions {
  readonly name: string;
  /** The delimiter; undefined to detect it from the first line. */
  readonly delimiter: string | undefined;
  readonly maxLineBytes: number;
  readonly mayBeMisread?: (() => boolean) | undefined;
  /** The number of lines above the header to skip. */
  readonly skipLines: number;
}

/**
 * Detects the delimiter in a first line: a comma; or a semicolon, tab or pipe if there is no comma outside quotes. The
 * name of a column may contain commas, but no tab. So the delimiter is a tab if there are more tabs than commas.
 */
const delimiterIn = (line: string): string => {
  const bare = line.replace(/"[^"]*"/g, "");
  const count = (delimiter: string): number => bare.split(delimiter).length;
  if (count(",") > 1 && count("\t") <= count(",")) return ",";
  const [best = ","] = [",", ";", "\t", "|"].sort((a, b) => count(b) - count(a));
  return best;
};

const isBlankText = (text: string): boolean => /^[\s\u200B\uFEFF]*$/.test(text);

/** Whether a line has only spaces and delimiters. */
const isBlank = (text: string, delimiter: string | undefined): boolean => {
  const first = text[0];
  // Decide fast for most lines, which begin with a letter.
  if (first !== undefined && first !== delimiter && first > ";") return false;
  return isBlankText(delimiter === undefined ? text.replace(/[,;\t|]/g, "") : text.replaceAll(delimiter, ""));
};

/** The index of the next quote that closes a cell; negative if there is none. */
const closingQuote = (text: string, from: number): number => {
  let index = text.indexOf('"', from);
  while (index >= 0 && text[index + 1] === '"') index = text.indexOf('"', index + 2);
  return index;
};

/** Adds the cells of each line to a row that spans several. */
const withLines = (row: Row, delimiter: string): Row => {
  const lines = row.text.split(/\r\n|\n|\r/);
  return lines.length > 1 ? { ...row, lines: lines.map((line) => line.split(delimiter)) } : row;
};

/** A row whose end has not been read. */
interface OpenRow extends Row {
  text: string;
  bytes: number;
  readonly cells: string[];
  readonly isQuoted: boolean[];
  /** The text of the quoted cell that continues on the next line. */
  openCell?: string | undefined;
  problem?: string;
}

/** Reads the cells of a line. A quote opens a quoted cell only at the start of the cell, also in a malformed row. */
const readCells = (row: OpenRow, line: string, delimiter: string): void => {
  let index = 0;
  do {
    const from = row.openCell === undefined ? index + 1 : index;
    if (row.openCell !== undefined || line[index] === '"') {
      const end = closingQuote(line, from);
      const part = line.slice(from, end < 0 ? line.length : end).replaceAll('""', '"');
      row.openCell = (row.openCell ?? "") + part;
      if (end < 0) return;
      row.cells.push(row.openCell);
      row.isQuoted.push(true);
      row.openCell = undefined;
      index = end + 1;
      const next = line.indexOf(delimiter, index);
      // Some programs write spaces between the quote and the delimiter.
      if (line.slice(index, next < 0 ? line.length : next).trim() !== "")
        row.problem ??= 'text after a closing quote; inside a quoted cell, write a quote as ""';
      index = next + 1;
    } else {
      const end = line.indexOf(delimiter, index);
      row.cells.push(line.slice(index, end < 0 ? line.length : end));
      row.isQuoted.push(false);
      index = end + 1;
    }
  } while (index > 0);
};

/**
 * Yields the rows of a CSV source. Each batch contains the rows that one chunk completes.
 *
 * Lines with only spaces and delimiters are not rows.
 *
 * @throws ValidationError for a row longer than `maxLineBytes`, because it is unknown which of the next lines are
 * inside a cell.
 */
export async function* readRows(
  chunks: AsyncIterable<Buffer>,
  { name, delimiter: ownDelimiter, maxLineBytes, mayBeMisread, skipLines }: RowOptions,
): AsyncGenerator<readonly Row[]> {
  let delimiter = ownDelimiter;
  let open: OpenRow | undefined;
  let lastEnd = "";
  for await (const lines of readLines(chunks, { maxLineBytes, mayBeMisread })) {
    const rows: Row[] = [];
    for (const { line, text: ownText, end, fault } of lines) {
      if (line <= skipLines) continue;
      const text = open === undefined ? withoutMark(ownText) : ownText;
      if (open === undefined && fault === undefined && isBlank(text, delimiter)) continue;
      // Excel may write its delimiter into a line above the header, such as `sep=;`.
      const [, separator] =
        delimiter === undefined || line === 1 ? (/^"?sep=([^"])"?$/i.exec(text) ?? []) : [];
      delimiter ??= separator;
      if (separator !== undefined) continue;
      delimiter ??= delimiterIn(text.trimStart());
      const bytes = (open?.bytes ?? 0) + Buffer.byteLength(text);
      if (fault === "too-long" || bytes > maxLineBytes) {
        yield rows;
        const problem = `record ${problemOf("too-long", maxLineBytes)}, or close the quote it opens`;
        throw lineError(name, open?.line ?? line, { problem });
      }
      if (open === undefined && fault === undefined && !text.includes('"')) {
        rows.push({ line, text, cells: text.split(delimiter) });
        continue;
      }
      if (open === undefined) open = { line, text: "", bytes: 0, cells: [], isQuoted: [] };
      else open.openCell = `${open.openCell}${lastEnd}`;
      open.text += lastEnd + text;
      open.bytes = bytes + end.length;
      if (fault !== undefined) open.problem = problemOf(fault, 0);
      readCells(open, text, delimiter);
      lastEnd = open.openCell === undefined ? "" : end;
      if (open.openCell !== undefined) continue;
      rows.push(withLines(open, delimiter));
      open = undefined;
    }
    if (rows.length > 0) yield rows;
  }
  if (open !== undefined && delimiter !== undefined)
    yield [withLines({ problem: "the quoted cell that starts here is never closed", ...open }, delimiter)];
}
