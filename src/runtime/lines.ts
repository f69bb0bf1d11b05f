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
interface LineOptions {
  /** The longest line to keep in memory. */
  readonly maxLineBytes: number;
  /** Whether `\r` ends a line too; by default only `\n` does. */
  readonly withReturns?: boolean;
}

const byteOrderMark = "\uFEFF";
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * The lines of a source, as many at a time as one chunk completes: an await per line would cost more than the line.
 *
 * Splits bytes before they are decoded, because a line end is never part of a longer UTF-8 character.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { maxLineBytes, withReturns = false }: LineOptions,
): AsyncGenerator<Line[]> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let number = 0;
  const hold = (part: Buffer): void => {
    heldBytes += part.length;
    if (heldBytes > maxLineBytes) held = [];
    else if (part.length > 0) held.push(part);
  };
  const take = (end: Line["end"]): Line => {
    const [first = Buffer.alloc(0), ...others] = held;
    const bytes = others.length === 0 ? first : Buffer.concat(held);
    const isTooLong = heldBytes > maxLineBytes;
    held = [];
    heldBytes = 0;
    number += 1;
    const text = bytes.toString("utf8");
    return {
      line: number,
      text: number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text,
      end,
      fault: isTooLong ? "too-long" : isUtf8(bytes) ? undefined : "not-utf8",
    };
  };
  let endsInReturn = false;
  for await (const chunk of chunks) {
    // The chunk after a `\r` shows whether `\r\n` ends the line.
    const all: Buffer = endsInReturn ? Buffer.concat([Buffer.of(carriageReturn), chunk]) : chunk;
    endsInReturn = withReturns && all.at(-1) === carriageReturn;
    const bytes = endsInReturn ? all.subarray(0, -1) : all;
    const lines: Line[] = [];
    const next = (byte: number, from: number): number => {
      const at = bytes.indexOf(byte, from);
      return at < 0 ? bytes.length : at;
    };
    let from = 0;
    let feed = next(newline, 0);
    let back = withReturns ? next(carriageReturn, 0) : bytes.length;
    for (let at = Math.min(feed, back); at < bytes.length; at = Math.min(feed, back)) {
      hold(bytes.subarray(from, at));
      const end = at === feed ? "\n" : bytes[at + 1] === newline ? "\r\n" : "\r";
      lines.push(take(end));
      from = at + end.length;
      // Each is looked for only once it has been passed: it may be far away.
      if (feed < from) feed = next(newline, from);
      if (back < from) back = next(carriageReturn, from);
    }
    hold(bytes.subarray(from));
    yield lines;
  }
  if (endsInReturn) yield [take("\r")];
  else if (heldBytes > 0) yield [take("")];
}
