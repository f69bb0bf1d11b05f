import { isUtf8 } from "node:buffer";

/** One line of a file. */
export interface Line {
  /** The number of the line, counted from 1. */
  readonly number: number;
  /** The text without its newline. Empty if it is too long. */
  readonly text: string;
  readonly fault: "too-long" | "not-utf8" | undefined;
}

const newline = 0x0a;
const byteOrderMark = "\uFEFF";

/** Splits chunks into lines. Splits bytes first, because a newline is never part of a longer UTF-8 character. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #number = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that this chunk completes. */
  push(bytes: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
      this.#hold(bytes.subarray(from, at));
      from = at + 1;
      lines.push(this.#take());
    }
    this.#hold(bytes.subarray(from));
    return lines;
  }

  /** The last line, if it has no newline. */
  end(): Line[] {
    return this.#heldBytes > 0 ? [this.#take()] : [];
  }

  #hold(part: Buffer): void {
    this.#heldBytes += part.length;
    if (this.#heldBytes > this.#maxLineBytes) this.#held = [];
    else if (part.length > 0) this.#held.push(part);
  }

  #take(): Line {
    const [first, ...others] = this.#held;
    const bytes = others.length === 0 ? (first ?? Buffer.alloc(0)) : Buffer.concat(this.#held);
    const isTooLong = this.#heldBytes > this.#maxLineBytes;
    this.#held = [];
    this.#heldBytes = 0;
    this.#number += 1;
    const text = bytes.toString("utf8");
    return {
      number: this.#number,
      text: this.#number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text,
      fault: isTooLong ? "too-long" : isUtf8(bytes) ? undefined : "not-utf8",
    };
  }
}

/** The lines of a source, as many at a time as one chunk completes: an await per line would cost more than the line. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: number,
): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(maxLineBytes);
  for await (const chunk of chunks) yield splitter.push(chunk);
  yield splitter.end();
}
