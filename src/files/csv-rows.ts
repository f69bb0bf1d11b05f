import { isUtf8 } from "node:buffer";
import { type CsvError, type Info, type Parser, parse } from "csv-parse";
import { ConfigurationError, type ValidationError } from "../errors.ts";
import { lineError, problemOf } from "./invalid.ts";

/** One CSV record: a line, or several if a quoted cell contains line breaks. */
export interface Row {
  /** Its first line, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Which cells were quoted, if requested. */
  readonly isQuoted?: readonly boolean[] | undefined;
  /** Why there are no cells; undefined if there are. */
  readonly problem: string | undefined;
  /** The byte offset of its start, including preceding blank lines, and of what follows it. */
  readonly from: number;
  readonly to: number;
}

/** Options for reading rows. */
export interface RowOptions {
  /** The name of the source in error messages. */
  readonly name: string;
  /** The character between cells; undefined to detect it from the first line. */
  readonly delimiter: string | undefined;
  /** The longest row to keep in memory. */
  readonly maxLineBytes: number;
  /** Whether to find out which cells were quoted, which takes longer. */
  readonly withQuotes?: boolean | undefined;
}

const lineEnd = /\r\n|\r|\n/g;
const countLineEnds = (text: string): number => text.match(lineEnd)?.length ?? 0;
const byteOrderMark = "\uFEFF";

// csv-parse's own sentences quote the cell, which may contain personal data.
const problems: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'a quote inside a cell that is not quoted; write it as "…""…"',
  CSV_INVALID_CLOSING_QUOTE: 'text after a closing quote; a quote inside a quoted cell is written ""',
  CSV_QUOTE_NOT_CLOSED: "a quoted cell begins here and is never closed",
};

/** The delimiter of a first line: a comma, unless it has none outside quotes but has semicolons or tabs. */
const delimiterIn = (line: string): string => {
  const bare = line.replace(/"[^"]*"/g, "");
  const count = (delimiter: string): number => bare.split(delimiter).length;
  if (count(",") > 1) return ",";
  const [best = ","] = [",", ";", "\t"].sort((a, b) => count(b) - count(a));
  return best;
};

/**
 * The end of a record that cannot be parsed: the first line end outside quotes; undefined if it has not arrived yet.
 */
const endOfBadRecord = (bytes: Buffer, delimiter: string): number | undefined => {
  // One character per byte, so that a position in the text is an offset.
  const text = bytes.toString("latin1");
  const cellEnd = Buffer.from(delimiter).toString("latin1");
  const bare = new RegExp(`\\r\\n?|\\n|${cellEnd.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}`, "g");
  bare.lastIndex = text.search(/[^\r\n]/);
  for (;;) {
    if (text[bare.lastIndex] === '"') {
      let quote = text.indexOf('"', bare.lastIndex + 1);
      while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2);
      if (quote < 0) return undefined;
      bare.lastIndex = quote + 1;
    }
    const found = bare.exec(text)?.[0];
    // A newline may follow the last carriage return.
    if (found === undefined || (found === "\r" && bare.lastIndex === text.length)) return undefined;
    if (found !== cellEnd) return bare.lastIndex;
  }
};

/** Reads the rows of a CSV source with csv-parse, and continues after a row that it cannot parse. */
export class CsvRows {
  readonly #options: RowOptions;
  #delimiter = ",";
  #parser: Parser | undefined;
  /** Where the parser started, in bytes and lines. */
  #origin = { offset: 0, lines: 0 };
  /** The bytes from `#held.from` on: at least the rows that were not yielded, and the current one. */
  #held = { from: 0, bytes: Buffer.alloc(0) };
  #rows: Row[] = [];
  #isQuoted: boolean[] = [];
  /** The end of the last row. */
  #end = { offset: 0, lines: 0 };
  /** How many lines csv-parse has counted too many: it counts a \r\n inside a quoted cell as two. */
  #overcount = 0;
  #mayHaveBadText = false;
  #failure: ValidationError | undefined;

  constructor(options: RowOptions) {
    this.#options = options;
  }

  /** The rows without blank lines, as many at a time as one chunk completes. */
  async *read(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Row[]> {
    for await (const chunk of this.#withoutMark(chunks)) {
      this.#hold(chunk);
      await this.#parse(chunk);
      this.#checkLength();
      yield* this.#take();
    }
    await this.#finish();
    yield* this.#take();
  }

  /** The text of a row of the last batch in the source. */
  textOf({ from, to }: Row): string {
    return this.#bytesOf(from, to)
      .toString()
      .replace(/^[\r\n]+|(\r\n|\r|\n)$/g, "");
  }

  /** Joins chunks until the first line is complete, detects its delimiter, and removes a byte order mark. */
  async *#withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let head: Buffer | undefined = Buffer.alloc(0);
    const begin = (bytes: Buffer): Buffer => {
      const text = bytes.toString();
      const skipped = text.startsWith(byteOrderMark) ? Buffer.byteLength(byteOrderMark) : 0;
      const firstLine = text.slice(skipped === 0 ? 0 : 1).trimStart();
      this.#delimiter = this.#options.delimiter ?? delimiterIn(firstLine.split(lineEnd, 1)[0] ?? "");
      this.#origin = { offset: skipped, lines: 0 };
      this.#end = this.#origin;
      this.#held = { from: skipped, bytes: Buffer.alloc(0) };
      head = undefined;
      return bytes.subarray(skipped);
    };
    for await (const chunk of chunks) {
      if (head === undefined) yield chunk;
      else {
        head = Buffer.concat([head, chunk]);
        const isLong = head.length > this.#options.maxLineBytes;
        if (isLong || /[\r\n]/.test(head.toString("latin1").trimStart())) yield begin(head);
      }
    }
    if (head !== undefined) yield begin(head);
  }

  #hold(chunk: Buffer): void {
    const { from, bytes } = this.#held;
    const done = this.#end.offset - from;
    this.#held = { from: this.#end.offset, bytes: Buffer.concat([bytes.subarray(done), chunk]) };
    this.#mayHaveBadText = !isUtf8(this.#held.bytes);
  }

  #bytesOf(from: number, to = Number.POSITIVE_INFINITY): Buffer {
    return this.#held.bytes.subarray(from - this.#held.from, to - this.#held.from);
  }

  #open(): Parser {
    const parser = parse({
      delimiter: this.#delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      skip_empty_lines: true,
      ...(this.#options.withQuotes && {
        cast: (cell: string, { quoting }: { readonly quoting: boolean }) => {
          this.#isQuoted.push(quoting);
          return cell;
        },
      }),
      // Nothing is written to the stream: all rows that one chunk completes are returned together.
      on_record: (cells: string[], info: Info) => {
        this.#add(cells, info);
        return null;
      },
    });
    this.#origin = { ...this.#end };
    this.#overcount = 0;
    parser.on("error", () => {});
    return parser.resume();
  }

  #add(cells: string[], { lines, bytes }: Info): void {
    const from = this.#end.offset;
    const to = this.#origin.offset + bytes;
    let last = this.#origin.lines + lines - this.#overcount;
    let inside = 0;
    if (last > this.#end.lines + 1) {
      for (const cell of cells) {
        if (!cell.includes("\n") && !cell.includes("\r")) continue;
        inside += countLineEnds(cell);
        const twice = cell.split("\r\n").length - 1;
        this.#overcount += twice;
        last -= twice;
      }
    }
    this.#end = { offset: to, lines: last };
    const isBadText = this.#mayHaveBadText && !isUtf8(this.#bytesOf(from, to));
    const problem = isBadText ? problemOf("not-utf8", 0) : undefined;
    const isQuoted = this.#options.withQuotes ? this.#isQuoted : undefined;
    this.#isQuoted = [];
    this.#push({ line: last - inside, cells: isBadText ? [] : cells, isQuoted, problem, from, to });
  }

  #push(row: Row): void {
    const { maxLineBytes } = this.#options;
    const isLong = row.to - row.from > maxLineBytes && Buffer.byteLength(this.textOf(row)) > maxLineBytes;
    if (isLong) this.#fail(row.line);
    else if (this.#failure === undefined) this.#rows.push(row);
  }

  /** Ends the reading, even with onInvalid, because it is unknown which of the next lines are inside a cell. */
  #fail(line: number): void {
    const { name, maxLineBytes } = this.#options;
    const problem = `record ${problemOf("too-long", maxLineBytes)}, or close the quote it opens`;
    this.#failure ??= lineError(name, { line, problem });
  }

  /** Checks the length of the current row. */
  #checkLength(): void {
    const pending = this.#bytesOf(this.#end.offset);
    if (pending.length <= this.#options.maxLineBytes) return;
    const text = pending.toString("latin1");
    const begin = text.search(/[^\r\n]/);
    // The last two characters may be its line end.
    if (begin < 0 || text.length - begin - 2 <= this.#options.maxLineBytes) return;
    this.#fail(this.#end.lines + 1 + countLineEnds(text.slice(0, begin)));
  }

  async #parse(chunk: Buffer): Promise<void> {
    if (this.#badCode !== undefined) return this.#passBadRecord(false);
    this.#parser ??= this.#open();
    const parser = this.#parser;
    const error = await new Promise<unknown>((resolve) => parser.write(chunk, resolve));
    if (error) await this.#meetBadRecord(error, false);
  }

  async #finish(): Promise<void> {
    if (this.#badCode !== undefined) return this.#passBadRecord(true);
    const parser = this.#parser;
    if (parser === undefined) return;
    const error = await new Promise<unknown>((resolve) => parser.end(resolve));
    if (error) await this.#meetBadRecord(error, true);
  }

  /** The fault of the current record, whose end has not arrived yet. */
  #badCode: string | undefined;

  async #meetBadRecord(error: unknown, isEnd: boolean): Promise<void> {
    const { code } = error as Partial<CsvError>;
    if (code === undefined || !Object.hasOwn(problems, code))
      throw new ConfigurationError(`${this.#options.name}: cannot be read as CSV (${code})`, {
        cause: error,
      });
    this.#parser = undefined;
    this.#isQuoted = [];
    this.#badCode = code;
    await this.#passBadRecord(isEnd);
  }

  async #passBadRecord(isEnd: boolean): Promise<void> {
    const pending = this.#bytesOf(this.#end.offset);
    const found = endOfBadRecord(pending, this.#delimiter) ?? (isEnd ? pending.length : undefined);
    if (found === undefined) return;
    const text = pending.toString("latin1", 0, found);
    const begin = text.search(/[^\r\n]/);
    const from = this.#end.offset;
    const line = this.#end.lines + 1 + countLineEnds(text.slice(0, begin));
    const rest = pending.subarray(found);
    this.#end = { offset: from + found, lines: this.#end.lines + countLineEnds(text) };
    const problem = problems[this.#badCode ?? ""];
    this.#badCode = undefined;
    this.#push({ line, cells: [], problem, from, to: from + found });
    if (rest.length > 0) await this.#parse(rest);
    if (isEnd) await this.#finish();
  }

  *#take(): Generator<readonly Row[]> {
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length > 0) yield rows;
    if (this.#failure !== undefined) throw this.#failure;
  }
}
