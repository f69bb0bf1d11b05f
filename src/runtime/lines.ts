import { isUtf8 } from "node:buffer";

/** One line of a file. */
export interface Line {
  /** The number of the line, counted from 1. */
  readonly line: number;
  /** The text of the line without its end. Empty if the line is too long. */
  readonly text: string;
  /** The line break; empty for a last line without a line break. */
  readonly end: "\n" | "\r\n" | "\r" | "";
  readonly fault: "too-long" | "not-utf8" | undefined;
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
  readonly #maxLineBytes: number;
  #parts: Buffer[] = [];
  #number = 0;
  bytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  add(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > this.#maxLineBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  end(end: Line["end"]): Line {
    const [first = Buffer.alloc(0), ...others] = this.#parts;
    const bytes = others.length === 0 ? first : Buffer.concat(this.#parts);
    const isTooLong = this.bytes > this.#maxLineBytes;
    this.#parts = [];
    this.bytes = 0;
    this.#number += 1;
    return {
      line: this.#number,
      text: bytes.toString("utf8"),
      end,
      fault: isTooLong ? "too-long" : isUtf8(bytes) ? undefined : "not-utf8",
    };
  }
}

/**
 * Yields the lines of a source. Each batch contains the lines that one chunk completes, because an await per line would
 * take longer than reading the line. A line ends with `\n`, `\r\n` or `\r`.
 *
 * Splits the bytes before decoding them. This is safe, because a line end is never part of a longer UTF-8 character.
 *
 * @param maxLineBytes - the maximum length of a line in bytes.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { maxLineBytes }: { readonly maxLineBytes: number },
): AsyncGenerator<Line[]> {
  const buffer = new LineBuffer(maxLineBytes);
  /** Whether the last byte so far is a carriage return. A newline may then follow in the next chunk. */
  let endsWithReturn = false;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    const lines: Line[] = [];
    let from = 0;
    if (endsWithReturn) {
      const isPair = chunk[0] === newline;
      lines.push(buffer.end(isPair ? "\r\n" : "\r"));
      from = isPair ? 1 : 0;
      endsWithReturn = false;
    }
    let lineFeed = chunk.indexOf(newline, from);
    let carriage = chunk.indexOf(carriageReturn, from);
    while (lineFeed >= 0 || carriage >= 0) {
      const isCarriage = carriage >= 0 && (lineFeed < 0 || carriage < lineFeed);
      const index = isCarriage ? carriage : lineFeed;
      buffer.add(chunk.subarray(from, index));
      if (isCarriage && index === chunk.length - 1) {
        endsWithReturn = true;
        from = chunk.length;
        break;
      }
      const end = isCarriage ? (lineFeed === index + 1 ? "\r\n" : "\r") : "\n";
      lines.push(buffer.end(end));
      from = index + end.length;
      if (lineFeed >= 0 && lineFeed < from) lineFeed = chunk.indexOf(newline, from);
      if (carriage >= 0 && carriage < from) carriage = chunk.indexOf(carriageReturn, from);
    }
    buffer.add(chunk.subarray(from));
    yield lines;
  }
  if (endsWithReturn) yield [buffer.end("\r")];
  else if (buffer.bytes > 0) yield [buffer.end("")];
}
