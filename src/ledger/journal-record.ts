import { parsedJson } from "../runtime/values.ts";
import type { ClaimDetails } from "./ledger.ts";
import type { Settling } from "./rules.ts";

/** A claimed key. */
interface ClaimRecord extends Partial<ClaimDetails> {
  readonly key: string;
  readonly fingerprint: string;
  /** The time of the claim, in milliseconds since 1970. */
  readonly since: number;
  /** The number of bytes of the file that the process had read when it found the key free. */
  readonly seen?: number;
  readonly claim: string;
}

/** A settled key, with its claim. */
interface SettleRecord extends Settling {
  readonly key: string;
  readonly claim: string;
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
  readonly at: number;
  readonly line: number;
  readonly record: JournalRecord;
}

// The line break at the front ends an unfinished line of a killed process; a complete line has its own.
export const lineOf = (record: JournalRecord): string => `\n${JSON.stringify(record)}\n`;

const has = (record: object, ...names: readonly string[]): boolean =>
  names.every((name) => typeof Reflect.get(record, name) === "string");

const isRecord = (value: unknown): value is JournalRecord => {
  if (typeof value !== "object" || value === null) return false;
  if ("touchpointLedger" in value) return value.touchpointLedger === 1 && has(value, "id");
  if ("settle" in value) return has(value, "settle", "key", "as", "claim");
  return has(value, "key", "claim", "fingerprint") && "since" in value && typeof value.since === "number";
};

/** Whether a text starts with a complete record. The record of a line that was cut has no end. */
const isComplete = (text: string): boolean => {
  const end = text.lastIndexOf("}") + 1;
  return parsedJson(text.slice(0, end)) !== undefined && !text.startsWith("\0", end);
};

const newline = 10;

/** The previous line: none or empty, cut short, or complete. */
type Before = "blank" | "torn" | "whole";

/** A position in the file, at the start of a line. */
export interface ReadingPoint {
  readonly at: number;
  /** The number of the line, counted from 1. */
  readonly line: number;
  readonly before: Before;
}

/** The start of the file. */
export const fileStart: ReadingPoint = { at: 0, line: 1, before: "blank" };

/** Creates the error for a line that a ledger did not write. */
export const damage = (line: number, what: string): Error => new Error(`line ${line} ${what}`);

/**
 * Parses a line. Undefined for an incomplete line of a killed process or a power cut, on which no process has relied.
 */
const recordOf = (
  text: string,
  { at, line, before }: ReadingPoint,
  isClosed: boolean,
): JournalRecord | undefined => {
  const value = parsedJson(text);
  if (value === undefined) {
    // A cut line has no end, because the next line starts directly after the cut. A power cut leaves zeros.
    const isCut = before !== "whole" && '{"'.startsWith(text.slice(0, 2)) && !isComplete(text);
    if (!isClosed && (isCut || text.startsWith("\0"))) return undefined;
    throw damage(line, "was not written by a ledger");
  }
  if (!isRecord(value)) throw damage(line, "is damaged or was written by another version");
  // Lines that preceded this line when it was written are missing.
  if ("seen" in value && Number(value.seen) > at) throw damage(line, "follows lines that are missing");
  return value;
};

/**
 * Reads the complete lines in a part of the file. It leaves an incomplete line at the end for the next part.
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
  let { line, before } = from;
  for (let start = 0; ; ) {
    const end = bytes.indexOf(newline, start);
    const at = from.at + start;
    // The next line shows whether this one has its own line break.
    if (end === -1 || (end + 1 === bytes.length && !isEnd)) return { lines, to: { at, line, before } };
    const text = bytes.toString("utf8", start, end);
    // Ignore a blank line: a person may have replaced a line with spaces to remove it.
    if (text.trim() !== "") {
      const isClosed = end + 1 === bytes.length || bytes[end + 1] === newline;
      const record = recordOf(text, { at, line, before }, isClosed);
      if (record !== undefined) lines.push({ at, line, record });
      before = record === undefined ? "torn" : "whole";
    } else before = "blank";
    start = end + 1;
    line += 1;
  }
};
