import { isUtf8 } from "node:buffer";

/** One line of a file. */
export interface Line {
  /** Its number, counted from 1. */
  readonly line: number;
  /** The text of the line without its end. Empty if it is too long. */
  readonly text: string;
  /** What ended it; empty for a last line without an end. */
  readonly end: "\n" | "\r\n" | "";
  readonly fault: "too-long" | "not-utf8" | undefined;
}

const byteOrderMark = "\uFEFF";
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * The lines of a source, as many at a time as one chunk completes: an await per line would cost more than the line.
 *
 * Splits bytes before they are decoded, because a line end is never part of a longer UTF-8 character.
 *
 * @param maxLineBytes - the longest line to keep in memory.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { maxLineBytes }: { readonly maxLineBytes: number },
): AsyncGenerator<Line[]> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let number = 0;
  const hold = (part: Buffer): void => {
    heldBytes += part.length;
    if (heldBytes > maxLineBytes) held = [];
    else if (part.length > 0) held.push(part);
  };
  const take = (isEnded: boolean): Line => {
    const [first = Buffer.alloc(0), ...others] = held;
    const all = others.length === 0 ? first : Buffer.concat(held);
    const hasReturn = isEnded && all.at(-1) === carriageReturn;
    const bytes = hasReturn ? all.subarray(0, -1) : all;
    const isTooLong = heldBytes > maxLineBytes;
    held = [];
    heldBytes = 0;
    number += 1;
    const text = bytes.toString("utf8");
    return {
      line: number,
      text: number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text,
      end: hasReturn ? "\r\n" : isEnded ? "\n" : "",
      fault: isTooLong ? "too-long" : isUtf8(bytes) ? undefined : "not-utf8",
    };
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      hold(chunk.subarray(from, at));
      lines.push(take(true));
      from = at + 1;
    }
    hold(chunk.subarray(from));
    yield lines;
  }
  if (heldBytes > 0) yield [take(false)];
}
