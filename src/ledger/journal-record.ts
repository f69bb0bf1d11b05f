import { parsedJson } from "../runtime/values.ts";
import type { ClaimDetails } from "./ledger.ts";
import type { Settling, Stored } from "./rules.ts";

/** A claimed key. */
interface ClaimRecord extends Pick<Stored, "key" | "claim" | "fingerprint" | "since">, Partial<ClaimDetails> {
  /** The number of bytes of the file that the process had read before it appended this record. */
  readonly seen?: number;
}

/** A settled key, with its claim. */
interface SettleRecord extends Settling, Pick<Stored, "key" | "claim"> {
  readonly seen?: number;
  readonly settle: string;
}

/** One line of a ledger's file. The first line identifies the file by an id that no other file has. */
export type JournalRecord =
  | { readonly touchpointLedger: 1; readonly id: string }
  | ClaimRecord
  | SettleRecord;

/** A record, and the byte offset and number of its line. */
export interface JournalLine {
  readonly offset: number;
  readonly line: number;
  readonly record: JournalRecord;
}

// The line break at the start ends the incomplete line of a killed process. A complete line ends with its own line
// break.
export const lineOf = (record: JournalRecord): string => `\n${JSON.stringify(record)}\n`;

const has = (record: object, ...names: readonly string[]): boolean =>
  names.every((name) => typeof Reflect.get(record, name) === "string");

const isJournalRecord = (value: unknown): value is JournalRecord => {
  if (typeof value !== "object" || value === null) return false;
  if ("touchpointLedger" in value) return value.touchpointLedger === 1 && has(value, "id");
  if ("settle" in value) return has(value, "settle", "key", "as", "claim");
  return has(value, "key", "claim", "fingerprint") && "since" in value && typeof value.since === "number";
};

/**
 * Whether a text starts with a complete record. A record that is followed by zeros does not count, because zeros are
 * left by a power cut.
 */
const isComplete = (text: string): boolean => {
  const end = text.lastIndexOf("}") + 1;
  return parsedJson(text.slice(0, end)) !== undefined && !text.startsWith("\0", end);
};

const newline = 10;

/** What the previous line was. `blank`: the line was empty, or there is no previous line. */
type PreviousLine = "blank" | "incomplete" | "complete";

/** A position in the file, at the start of a line. */
export interface ReadingPoint {
  /** The byte offset. */
  readonly offset: number;
  /** The number of the line, counted from 1. */
  readonly line: number;
  readonly previous: PreviousLine;
}

/** The start of the file. */
export const fileStart: ReadingPoint = { offset: 0, line: 1, previous: "blank" };

/** Creates the error for a line that a ledger did not write. */
export const damage = (line: number, what: string): Error => new Error(`line ${line} ${what}`);

/**
 * Parses a line. Returns undefined for the incomplete line of a killed process or a power cut. Nothing depends on such
 * a line, because its process never reported it as written.
 *
 * @param hasOwnBreak - whether the line has a line break of its own.
 */
const recordOf = (
  text: string,
  { offset, line, previous }: ReadingPoint,
  hasOwnBreak: boolean,
): JournalRecord | undefined => {
  const value = parsedJson(text);
  if (value === undefined) {
    // A line that was cut off has no line break of its own. A power cut may leave zeros.
    const isCut = previous !== "complete" && '{"'.startsWith(text.slice(0, 2)) && !isComplete(text);
    if (!hasOwnBreak && (isCut || text.startsWith("\0"))) return undefined;
    throw damage(line, "was not written by a ledger");
  }
  if (!isJournalRecord(value)) throw damage(line, "is damaged or was written by another version");
  // The process had read more bytes than precede this line now, so lines before it are missing.
  if ("seen" in value && Number(value.seen) > offset) throw damage(line, "follows lines that are missing");
  return value;
};

/**
 * Reads the complete lines in a part of the file. The caller reads an incomplete line at the end again, with the next
 * part.
 *
 * @param isEnd - whether the part ends at the end of the file.
 * @throws Error at a line that a ledger did not write.
 */
export const readLines = (
  bytes: Buffer,
  from: ReadingPoint,
  isEnd: boolean,
): { readonly lines: readonly JournalLine[]; readonly to: ReadingPoint } => {
  const lines: JournalLine[] = [];
  let { line, previous } = from;
  for (let start = 0; ; ) {
    const end = bytes.indexOf(newline, start);
    const offset = from.offset + start;
    // The next line shows whether this one has its own line break.
    if (end === -1 || (end + 1 === bytes.length && !isEnd)) return { lines, to: { offset, line, previous } };
    const text = bytes.toString("utf8", start, end);
    // Ignore a blank line. A person may have removed a line by replacing it with spaces.
    if (text.trim() !== "") {
      const hasOwnBreak = end + 1 === bytes.length || bytes[end + 1] === newline;
      const record = recordOf(text, { offset, line, previous }, hasOwnBreak);
      if (record !== undefined) lines.push({ offset, line, record });
      previous = record === undefined ? "incomplete" : "complete";
    } else previous = "blank";
    start = end + 1;
    line += 1;
  }
};
