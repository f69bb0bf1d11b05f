import { lineError, problemOf } from "./invalid.ts";
import { readLines } from "./lines.ts";

/** One CSV record: a line, or several if a quoted cell contains line breaks. */
export interface Row {
  /** Its first line, counted from 1. */
  readonly line: number;
  /** Its text in the file, without its last line end. */
  readonly text: string;
  readonly cells: readonly string[];
  /** Which cells were quoted; undefined if none was. */
  readonly isQuoted?: readonly boolean[];
  /** Why there are no cells; undefined if there are. */
  readonly problem?: string;
}

/** Options for reading rows. */
export interface RowOptions {
  /** The name of the source in error messages. */
  readonly name: string;
  /** The character between cells; undefined to detect it from the first line. */
  readonly delimiter: string | undefined;
  /** The longest row to keep in memory. */
  readonly maxLineBytes: number;
}

/** The delimiter of a first line: a comma, unless it has none outside quotes but has semicolons or tabs. */
const delimiterIn = (line: string): string => {
  const bare = line.replace(/"[^"]*"/g, "");
  const count = (delimiter: string): number => bare.split(delimiter).length;
  if (count(",") > 1) return ",";
  const [best = ","] = [",", ";", "\t"].sort((a, b) => count(b) - count(a));
  return best;
};

/** The next quote that closes a cell; negative if there is none. */
const closingQuote = (text: string, from: number): number => {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
};

/** Whether a quoted cell goes on after a line. A quote opens a cell only at its start, also in a malformed row. */
const isOpenAfter = (line: string, isOpen: boolean, delimiter: string): boolean => {
  if (!line.includes('"')) return isOpen;
  let isInside = isOpen;
  let at = 0;
  for (;;) {
    if (isInside || line[at] === '"') {
      const end = closingQuote(line, isInside ? at : at + 1);
      if (end < 0) return true;
      isInside = false;
      at = end + 1;
    }
    at = line.indexOf(delimiter, at) + 1;
    if (at === 0) return false;
  }
};

/** The cells of a whole row, or why it has none. */
const parsed = (text: string, delimiter: string): Pick<Row, "cells" | "isQuoted" | "problem"> => {
  if (!text.includes('"')) return { cells: text.split(delimiter) };
  const cells: string[] = [];
  const isQuoted: boolean[] = [];
  // Each round reads a cell and stops at the delimiter behind it.
  for (let at = 0; at <= text.length; at += 1) {
    const isOpened = text[at] === '"';
    const delimiterAt = text.indexOf(delimiter, at);
    const end = isOpened ? closingQuote(text, at + 1) : delimiterAt < 0 ? text.length : delimiterAt;
    if (end < 0) return { cells: [], problem: "a quoted cell begins here and is never closed" };
    const cell = isOpened ? text.slice(at + 1, end).replaceAll('""', '"') : text.slice(at, end);
    if (!isOpened && cell.includes('"'))
      return { cells: [], problem: 'a quote inside a cell that is not quoted; write it as "…""…"' };
    cells.push(cell);
    isQuoted.push(isOpened);
    at = isOpened ? end + 1 : end;
    if (at < text.length && text[at] !== delimiter)
      return {
        cells: [],
        problem: 'text after a closing quote; a quote inside a quoted cell is written ""',
      };
  }
  return { cells, isQuoted };
};

const lineEnd = /(?:\r\n|\r|\n)$/;

/** A row whose end has not been read. */
interface OpenRow {
  readonly line: number;
  text: string;
  bytes: number;
  isUtf8: boolean;
}

/**
 * The rows of a CSV source without blank lines, as many at a time as one chunk completes.
 *
 * @throws ValidationError for a row longer than `maxLineBytes`, because it is unknown which of the next lines are inside a
 * cell.
 */
export async function* readRows(
  chunks: AsyncIterable<Buffer>,
  { name, delimiter: given, maxLineBytes }: RowOptions,
): AsyncGenerator<readonly Row[]> {
  let delimiter = given;
  let open: OpenRow | undefined;
  const rowOf = ({ line, text: whole, isUtf8 }: OpenRow): Row => {
    const text = whole.replace(lineEnd, "");
    return isUtf8
      ? { line, text, ...parsed(text, delimiter ?? ",") }
      : { line, text, cells: [], problem: problemOf("not-utf8", 0) };
  };
  // The longest line end has two bytes.
  for await (const lines of readLines(chunks, { maxLineBytes: maxLineBytes + 2, withReturns: true })) {
    const rows: Row[] = [];
    for (const { line, text, fault } of lines) {
      const end = lineEnd.exec(text)?.[0].length ?? 0;
      if (open === undefined && text.length === end && fault === undefined) continue;
      if (text.trim() !== "") delimiter ??= delimiterIn(text.trimStart());
      const isOpen = isOpenAfter(text, open !== undefined, delimiter ?? ",");
      open ??= { line, text: "", bytes: 0, isUtf8: true };
      open.text += text;
      open.bytes += Buffer.byteLength(text);
      if (fault === "not-utf8") open.isUtf8 = false;
      if (fault === "too-long" || open.bytes - end > maxLineBytes) {
        yield rows;
        const problem = `record ${problemOf("too-long", maxLineBytes)}, or close the quote it opens`;
        throw lineError(name, open.line, { problem });
      }
      if (isOpen) continue;
      rows.push(rowOf(open));
      open = undefined;
    }
    if (rows.length > 0) yield rows;
  }
  if (open !== undefined) yield [rowOf(open)];
}
