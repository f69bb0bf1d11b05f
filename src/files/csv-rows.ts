import { CsvError, parse } from "csv-parse/sync";
import { lineError, problemOf } from "./invalid.ts";
import { type Line, readLines } from "./lines.ts";

/** One CSV record: a line, or several when a quoted cell holds line breaks. */
export interface Row {
  /** The first line of it, counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly cells: readonly string[];
  /** Why there are no cells; undefined when there are. */
  readonly problem: string | undefined;
  /** The offset in bytes of what follows it; undefined for a last one without line end, or with an open quote. */
  readonly endsAt: number | undefined;
}

interface RowOptions {
  readonly name: string;
  readonly delimiter: string;
  readonly maxLineBytes: number;
}

/** Whether a quoted cell is still open at the end of this line. A quote opens only where a cell begins. */
const isOpenAfter = (text: string, wasOpen: boolean, delimiter: string): boolean => {
  let isOpen = wasOpen;
  for (let at = 0; ; ) {
    if (!isOpen && text[at] === '"') {
      isOpen = true;
      at += 1;
    }
    if (isOpen) {
      const quote = text.indexOf('"', at);
      if (quote < 0) return true;
      at = quote + 1;
      isOpen = text[at] === '"';
      if (isOpen) {
        at += 1;
        continue;
      }
    }
    const next = text.indexOf(delimiter, at);
    if (next < 0) return false;
    at = next + 1;
  }
};

// Its own sentences quote the cell, which may hold personal data.
const problems: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'a quote inside a cell that is not quoted; write it as "…""…"',
  CSV_INVALID_CLOSING_QUOTE: 'text after a closing quote; a quote inside a quoted cell is written ""',
  CSV_QUOTE_NOT_CLOSED: "a quoted cell begins here and is never closed",
};

const parseRow = (text: string, delimiter: string): Pick<Row, "cells" | "problem"> => {
  try {
    const options = { delimiter, record_delimiter: "\n", relax_column_count: true, max_record_size: 0 };
    return { cells: parse(text, options)[0] ?? [], problem: undefined };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { cells: [], problem: problems[error.code] ?? `not CSV (${error.code})` };
  }
};

class RowGatherer {
  readonly #options: RowOptions;
  #lines: Line[] = [];
  #length = 0;

  constructor(options: RowOptions) {
    this.#options = options;
  }

  /** The row that this line completes, if it does. */
  push(line: Line): Row | undefined {
    const { name, delimiter, maxLineBytes } = this.#options;
    const first = this.#lines[0] ?? line;
    this.#length += Buffer.byteLength(line.text);
    if (line.fault === "too-long" || this.#length > maxLineBytes) {
      // Thrown even where onInvalid is given: without the quotes of what was dropped, nobody knows which of the
      // lines to come are records and which are text inside a cell.
      const where = `record ${problemOf("too-long", maxLineBytes)}, or close the quote it opens`;
      throw lineError(name, { line: first.number, problem: where });
    }
    this.#length += line.end.length;
    this.#lines.push(line);
    const isOpen = isOpenAfter(line.text, this.#lines.length > 1, delimiter);
    return isOpen ? undefined : this.#take(line.endsAt);
  }

  end(): Row | undefined {
    return this.#lines.length > 0 ? this.#take(undefined) : undefined;
  }

  #take(endsAt: number | undefined): Row | undefined {
    const { delimiter, maxLineBytes } = this.#options;
    const lines = this.#lines;
    this.#lines = [];
    this.#length = 0;
    // The end of the last line is the row's own; those of the others stand inside a quoted cell.
    const text = lines.map((line, at) => (at + 1 < lines.length ? line.text + line.end : line.text)).join("");
    if (text === "") return undefined;
    const row = { line: lines[0]?.number ?? 0, text, endsAt };
    const fault = lines.find((line) => line.fault !== undefined)?.fault;
    if (fault !== undefined) return { ...row, cells: [], problem: problemOf(fault, maxLineBytes) };
    return { ...row, ...parseRow(text, delimiter) };
  }
}

/** The rows of a CSV source without its blank lines, as many at a time as one chunk completes. */
export async function* readRows(
  chunks: AsyncIterable<Uint8Array | string>,
  options: RowOptions,
): AsyncGenerator<Row[]> {
  const gatherer = new RowGatherer(options);
  for await (const lines of readLines(chunks, { ...options, returnsEndLines: true })) {
    yield lines.map((line) => gatherer.push(line)).filter((row) => row !== undefined);
  }
  const last = gatherer.end();
  if (last !== undefined) yield [last];
}
