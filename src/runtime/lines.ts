import { isUtf8 } from "node:buffer";

/** Why a line is not text. `controls`: it has the control characters that text in a wrong encoding becomes. */
export type LineFault = "too-long" | "not-utf8" | "controls";

interface LineOptions {
  /** The maximum length of a line in bytes. */
  readonly maxLineBytes: number;
  /** Whether control characters in the text show a wrong encoding. Called for each line, from the first chunk on. */
  readonly mayBeMisread?: (() => boolean) | undefined;
}

/** One line of a file. */
export interface Line {
  /** The number of the line, counted from 1. */
  readonly line: number;
  /** The text of the line without its end. Empty if the line is too long. */
  readonly text: string;
  /** The line break; empty for a last line without a line break. */
  readonly end: "\n" | "\r\n" | "\r" | "";
  readonly fault: LineFault | undefined;
}

/**
 * Removes a byte order mark from the start of a text. In a file that was joined from several files, later lines may
 * start with one, too.
 */
export const withoutMark = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text);

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Collects the bytes of one line at a time. */
class LineBuffer {
  readonly #options: LineOptions;
  #parts: Buffer[] = [];
  #number = 0;
  bytes = 0;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  #faultOf(bytes: Buffer, text: string): LineFault | undefined {
    if (this.bytes > this.#options.maxLineBytes) return "too-long";
    if (!isUtf8(bytes)) return "not-utf8";
    return this.#options.mayBeMisread?.() && /[\u0080-\u009F]/.test(text) ? "controls" : undefined;
  }

  add(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > this.#options.maxLineBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  end(end: Line["end"]): Line {
    const [first = Buffer.alloc(0), ...others] = this.#parts;
    const bytes = others.length === 0 ? first : Buffer.concat(this.#parts);
    const text = bytes.toString("utf8");
    const fault = this.#faultOf(bytes, text);
    this.#parts = [];
    this.bytes = 0;
    this.#number += 1;
    return { line: this.#number, text, end, fault };
  }
}

/**
 * Yields the lines of a source. Each batch contains the lines that one chunk completes, because an await per line would
 * take longer than reading the line. A line ends with `\n`, `\r\n` or `\r`.
 *
 * Splits the bytes before decoding them. This is safe, because a line end is never part of a longer UTF-8 character.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  options: LineOptions,
): AsyncGenerator<Line[]> {
  const buffer = new LineBuffer(options);
  /** A carriage return at the end of a chunk, or nothing. It waits for the next chunk, which may start with a newline. */
  let last: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const all = last.length === 0 ? chunk : Buffer.concat([last, chunk]);
    const end = all.at(-1) === carriageReturn ? all.length - 1 : all.length;
    const bytes = all.subarray(0, end);
    last = all.subarray(end);
    const lines: Line[] = [];
    let from = 0;
    let lineFeed = bytes.indexOf(newline);
    let carriage = bytes.indexOf(carriageReturn);
    while (lineFeed >= 0 || carriage >= 0) {
      const isCarriage = carriage >= 0 && (lineFeed < 0 || carriage < lineFeed);
      const index = isCarriage ? carriage : lineFeed;
      buffer.add(bytes.subarray(from, index));
      const lineBreak = isCarriage ? (lineFeed === index + 1 ? "\r\n" : "\r") : "\n";
      lines.push(buffer.end(lineBreak));
      from = index + lineBreak.length;
      if (lineFeed >= 0 && lineFeed < from) lineFeed = bytes.indexOf(newline, from);
      if (carriage >= 0 && carriage < from) carriage = bytes.indexOf(carriageReturn, from);
    }
    buffer.add(bytes.subarray(from));
    yield lines;
  }
  if (last.length > 0) yield [buffer.end("\r")];
  else if (buffer.bytes > 0) yield [buffer.end("")];
}
