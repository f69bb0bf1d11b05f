import { isUtf8 } from "node:buffer";
import { ConfigurationError } from "../errors.ts";
import { isBytes } from "../realms.ts";

/** One line of a file, counted from 1. */
export interface Line {
  readonly number: number;
  /** Without its newline, but with the `\r` before it, which may belong to a quoted cell. Empty when too long. */
  readonly text: string;
  readonly fault: "too-long" | "not-utf8" | undefined;
  /** The offset in bytes of what follows its newline; undefined for a last line without one. */
  readonly endsAt: number | undefined;
}

const newline = 0x0a;
const byteOrderMark = "\uFEFF";

const isHighSurrogate = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text);

/** Cuts chunks into lines. A newline byte is never part of a longer UTF-8 character, so bytes can be cut first. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #number = 0;
  #offset = 0;
  #halfCharacter = "";

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array | string): Line[] {
    const bytes = this.#bytesOf(chunk);
    const lines: Line[] = [];
    let from = 0;
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
      this.#hold(bytes.subarray(from, at));
      from = at + 1;
      lines.push(this.#take(this.#offset + from));
    }
    this.#hold(bytes.subarray(from));
    this.#offset += bytes.length;
    return lines;
  }

  /** The last line, if it has no newline. */
  end(): Line[] {
    this.#hold(Buffer.from(this.#halfCharacter));
    return this.#heldBytes > 0 ? [this.#take(undefined)] : [];
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
    if (this.#heldBytes > this.#maxLineBytes) this.#held = [];
    else if (part.length > 0) this.#held.push(part);
  }

  #take(endsAt: number | undefined): Line {
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
      endsAt,
    };
  }
}

/** The lines of a source, as many at a time as one chunk completes: an await per line would cost more than the line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array | string>,
  maxLineBytes: number,
): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(maxLineBytes);
  for await (const chunk of chunks) yield splitter.push(chunk);
  yield splitter.end();
}
