import { parsedJson } from "../runtime/values.ts";
import type { ClaimDetails } from "./ledger.ts";
import type { Settling } from "./rules.ts";

/** A claimed key. */
interface ClaimRecord extends Partial<ClaimDetails> {
  readonly key: string;
  readonly fingerprint: string;
  /** In milliseconds since 1970. */
  readonly since: number;
  /** How much of the file had been read when the key was found free. */
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

/** Whether a text has a whole record and then something else: a line that was cut has no end. */
const isComplete = (text: string): boolean => {
  const end = text.lastIndexOf("}") + 1;
  return parsedJson(text.slice(0, end)) !== undefined && !text.startsWith("\0", end);
};

const newline = 10;

/** The previous line: none or empty, cut short, or complete. */
type Before = "blank" | "torn" | "whole";

/** The position of a reading, at the start of a line. */
export interface ReadingPoint {
  readonly at: number;
  /** The line's number, as an editor counts it. */
  readonly line: number;
  readonly before: Before;
}

/** Where the reading of a file starts. */
export const fileStart: ReadingPoint = { at: 0, line: 1, before: "blank" };

/** The error of a line that a ledger did not write. */
export const damage = (line: number, what: string): Error => new Error(`line ${line} ${what}`);

/** Undefined for an incomplete line of a killed process or a power cut: no process has relied on it. */
const recordOf = (
  text: string,
  { at, line, before }: ReadingPoint,
  isClosed: boolean,
): JournalRecord | undefined => {
  const value = parsedJson(text);
  if (value === undefined) {
    // A cut line lacks its end, and the next one starts at once; a power cut leaves zeros.
    const isCut = before !== "whole" && '{"'.startsWith(text.slice(0, 2)) && !isComplete(text);
    if (!isClosed && (isCut || text.startsWith("\0"))) return undefined;
    throw damage(line, "is not what a ledger writes");
  }
  if (!isRecord(value)) throw damage(line, "is damaged, or of another version");
  // What preceded the line when it was written does not precede it any more.
  if ("seen" in value && Number(value.seen) > at) throw damage(line, "comes after lines that are gone");
  return value;
};

/**
 * Reads the complete lines of a part of the file; an incomplete line at the end is left.
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
    // Blanks replace a line that a person removed.
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
