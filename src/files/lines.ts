import { isUtf8 } from "node:buffer";
import { ConfigurationError } from "../errors.ts";
import { isBytes } from "../runtime/cross-realm.ts";

/** What may end a line. */
export type LineEnd = "\n" | "\r\n" | "\r" | "";

/** How lines are cut. */
export interface LineOptions {
  readonly maxLineBytes: number;
  /** Whether a `\r` ends a line too, alone or with the newline after it; else only a newline does. */
  readonly returnsEndLines: boolean;
}

/** One line of a file, counted from 1. */
export interface Line {
  readonly number: number;
  /** Without what ends it. Empty when too long. */
  readonly text: string;
  /** What ends it; empty for a last line without an end. */
  readonly end: LineEnd;
  readonly fault: "too-long" | "not-utf8" | undefined;
  /** The offset in bytes of what follows its end; undefined for a last line without one. */
  readonly endsAt: number | undefined;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = "\uFEFF";

const isHighSurrogate = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text);

/** Where a byte stands next; behind the last one when it does not. */
const nextOf = (bytes: Buffer, byte: number, from: number): number => {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
};

/** Cuts chunks into lines: bytes first, as those that end a line are never part of a longer UTF-8 character. */
export class LineSplitter {
  readonly #options: LineOptions;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #number = 0;
  #offset = 0;
  #halfCharacter = "";
  /** Whether the last chunk ended with a `\r` that ends a line: a newline that comes next belongs to it. */
  #isAfterReturn = false;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array | string): Line[] {
    const bytes = this.#bytesOf(chunk);
    if (bytes.length === 0) return [];
    const lines: Line[] = [];
    let from = 0;
    const take = (end: LineEnd, to: number): void => {
      from = to;
      lines.push(this.#take(end, this.#offset + from));
    };
    if (this.#isAfterReturn) {
      this.#isAfterReturn = false;
      if (bytes[0] === newline) take("\r\n", 1);
      else take("\r", 0);
    }
    let atNewline = nextOf(bytes, newline, from);
    let atReturn = this.#options.returnsEndLines ? nextOf(bytes, carriageReturn, from) : bytes.length;
    for (;;) {
      const at = Math.min(atNewline, atReturn);
      this.#hold(bytes.subarray(from, at));
      if (at === bytes.length) break;
      if (at === atNewline) take("\n", at + 1);
      else if (at + 1 === bytes.length) {
        this.#isAfterReturn = true;
        break;
      } else if (atNewline === at + 1) take("\r\n", at + 2);
      else take("\r", at + 1);
      if (atNewline < from) atNewline = nextOf(bytes, newline, from);
      if (atReturn < from) atReturn = nextOf(bytes, carriageReturn, from);
    }
    this.#offset += bytes.length;
    return lines;
  }

  /** The last lines: one that waits for what follows its `\r`, and one without an end. */
  end(): Line[] {
    const lines = this.#isAfterReturn ? [this.#take("\r", this.#offset)] : [];
    this.#hold(Buffer.from(this.#halfCharacter));
    if (this.#heldBytes > 0) lines.push(this.#take("", undefined));
    return lines;
  }

  #bytesOf(chunk: Uint8Array | string): Buffer {
    if (typeof chunk !== "string") {
      if (isBytes(chunk)) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      throw new ConfigurationError(`the source gave ${typeof chunk} instead of bytes or strings`);
    }
    // A string may be cut between the two halves of an emoji; either half alone has no UTF-8 form.
    const text = this.#halfCharacter + chunk;
    this.#halfCharacter = isHighSurrogate(text) ? text.slice(-1) : "";
    return Buffer.from(this.#halfCharacter === "" ? text : text.slice(0, -1));
  }

  #hold(part: Buffer): void {
    this.#heldBytes += part.length;
    if (this.#heldBytes > this.#options.maxLineBytes) this.#held = [];
    else if (part.length > 0) this.#held.push(part);
  }

  #take(end: LineEnd, endsAt: number | undefined): Line {
    const [first, ...others] = this.#held;
    const bytes = others.length === 0 ? (first ?? Buffer.alloc(0)) : Buffer.concat(this.#held);
    const isTooLong = this.#heldBytes > this.#options.maxLineBytes;
    this.#held = [];
    this.#heldBytes = 0;
    this.#number += 1;
    const text = bytes.toString("utf8");
    return {
      number: this.#number,
      text: this.#number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text,
      end,
      fault: isTooLong ? "too-long" : isUtf8(bytes) ? undefined : "not-utf8",
      endsAt,
    };
  }
}

/** The lines of a source, as many at a time as one chunk completes: an await per line would cost more than the line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array | string>,
  options: LineOptions,
): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(options);
  for await (const chunk of chunks) yield splitter.push(chunk);
  yield splitter.end();
}
