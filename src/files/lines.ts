import { isUtf8 } from "node:buffer";

/** One line of a file. */
export interface Line {
  /** Its number, counted from 1. */
  readonly line: number;
  /** The text of the line without its end. Empty if it is too long. */
  readonly text: string;
  /** What ended it; empty for a last line without an end. */
  readonly end: "\n" | "\r\n" | "\r" | "";
  readonly fault: "too-long" | "not-utf8" | undefined;
}

/** How to split a file. */
export interface LineOptions {
  /** The longest line to keep in memory. */
  readonly maxLineBytes: number;
  /** Whether `\r` ends a line too; by default only `\n` does. */
  readonly withReturns?: boolean;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = "\uFEFF";

/** Splits chunks into lines. Splits bytes first, because a line end is never part of a longer UTF-8 character. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #withReturns: boolean;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Whether the last chunk ended with `\r`: the next one may begin with its `\n`. */
  #endsInReturn = false;
  #number = 0;

  constructor({ maxLineBytes, withReturns = false }: LineOptions) {
    this.#maxLineBytes = maxLineBytes;
    this.#withReturns = withReturns;
  }

  /** The lines that this chunk completes. */
  push(bytes: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    if (this.#endsInReturn && bytes.length > 0) {
      this.#endsInReturn = false;
      if (bytes[0] === newline) from = 1;
      lines.push(this.#take(from === 1 ? "\r\n" : "\r"));
    }
    const next = (byte: number): number => {
      const at = bytes.indexOf(byte, from);
      return at < 0 ? bytes.length : at;
    };
    let feed = next(newline);
    let back = this.#withReturns ? next(carriageReturn) : bytes.length;
    for (let at = Math.min(feed, back); at < bytes.length; at = Math.min(feed, back)) {
      this.#hold(bytes.subarray(from, at));
      if (at === back && at === bytes.length - 1) {
        this.#endsInReturn = true;
        return lines;
      }
      const end = at === feed ? "\n" : feed === at + 1 ? "\r\n" : "\r";
      lines.push(this.#take(end));
      from = at + end.length;
      // Each is looked for only once it has been passed: it may be far away.
      if (feed < from) feed = next(newline);
      if (back < from) back = next(carriageReturn);
    }
    this.#hold(bytes.subarray(from));
    return lines;
  }

  /** The last line, if it has no end. */
  end(): Line[] {
    if (this.#endsInReturn) return [this.#take("\r")];
    return this.#heldBytes > 0 ? [this.#take("")] : [];
  }

  #hold(part: Buffer): void {
    this.#heldBytes += part.length;
    if (this.#heldBytes > this.#maxLineBytes) this.#held = [];
    else if (part.length > 0) this.#held.push(part);
  }

  #take(end: Line["end"]): Line {
    const [first, ...others] = this.#held;
    const bytes = others.length === 0 ? (first ?? Buffer.alloc(0)) : Buffer.concat(this.#held);
    const isTooLong = this.#heldBytes > this.#maxLineBytes;
    this.#held = [];
    this.#heldBytes = 0;
    this.#number += 1;
    const text = bytes.toString("utf8");
    return {
      line: this.#number,
      text: this.#number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text,
      end,
      fault: isTooLong ? "too-long" : isUtf8(bytes) ? undefined : "not-utf8",
    };
  }
}

/** The lines of a source, as many at a time as one chunk completes: an await per line would cost more than the line. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  options: LineOptions,
): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(options);
  for await (const chunk of chunks) yield splitter.push(chunk);
  yield splitter.end();
}
