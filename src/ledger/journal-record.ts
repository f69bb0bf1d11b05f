import type { Settlement } from "./ledger.ts";

/** A key taken. */
export interface ClaimRecord {
  readonly key: string;
  readonly fingerprint: string;
  /** In milliseconds since 1970. */
  readonly since: number;
  /** How much of the file had been read when the key was found free: nothing in it says otherwise. */
  readonly seen?: number;
  readonly claim: string;
}

/** A key settled, under the claim named. */
export interface SettleRecord {
  readonly key: string;
  readonly as: Settlement;
  readonly claim: string;
  readonly over?: boolean | undefined;
  readonly receipt?: unknown;
  readonly seen?: number;
  readonly settle: string;
}

/** One line of a ledger's file. The first says what the file is, with an id that no other file has. */
export type JournalRecord =
  | { readonly touchpointLedger: 1; readonly id: string }
  | ClaimRecord
  | SettleRecord;

/** A record and where its line begins, in bytes. */
export interface JournalLine {
  readonly at: number;
  readonly record: JournalRecord;
}

/** The file is not what a ledger writes. `at`: where the line begins, in bytes. */
export class Damage extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

// The line break in front ends a line that a killed process left unfinished; a whole line has its own.
export const lineOf = (record: JournalRecord): string => `\n${JSON.stringify(record)}\n`;

const has = (record: object, ...names: readonly string[]): boolean =>
  names.every((name) => typeof Reflect.get(record, name) === "string");

const isRecord = (value: unknown): value is JournalRecord => {
  if (typeof value !== "object" || value === null) return false;
  if ("touchpointLedger" in value) return value.touchpointLedger === 1 && has(value, "id");
  if ("settle" in value) return has(value, "settle", "key", "as", "claim");
  return has(value, "key", "claim", "fingerprint") && "since" in value && typeof value.since === "number";
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const newline = 10;

/** The line before: none or an empty one, one cut short, or a whole one. */
type Before = "blank" | "torn" | "whole";

/** Where a reading stands: at the beginning of a line. */
export interface ReadingPoint {
  readonly at: number;
  readonly before: Before;
}

/** Undefined for what a killed process or a power cut left of a line: nobody has relied on it. */
const recordOf = (
  text: string,
  { at, before }: ReadingPoint,
  isClosed: boolean,
): JournalRecord | undefined => {
  const value = parsed(text);
  if (value === undefined) {
    // A cut line lacks its end, and the next one begins at once; a power cut leaves zeros.
    const isCut = before !== "whole" && '{"'.startsWith(text.slice(0, 2));
    if (!isClosed && (isCut || text.startsWith("\0"))) return undefined;
    throw new Damage(at, "is not what a ledger writes");
  }
  if (!isRecord(value)) throw new Damage(at, "is damaged, or of another version");
  // What was there when the line was written is no longer before it.
  if ("seen" in value && Number(value.seen) > at) throw new Damage(at, "comes after lines that are gone");
  return value;
};

/**
 * Reads the whole lines of a stretch of the file; what may be the beginning of a line is left.
 *
 * @param isEnd - whether the stretch ends where the file does.
 * @throws Damage at a line that is none of a ledger.
 */
export const readLines = (
  bytes: Buffer,
  from: ReadingPoint,
  isEnd: boolean,
): { readonly lines: readonly JournalLine[]; readonly to: ReadingPoint } => {
  const lines: JournalLine[] = [];
  let { before } = from;
  for (let start = 0; ; ) {
    const end = bytes.indexOf(newline, start);
    const at = from.at + start;
    // What comes after a line tells whether it has a line break of its own.
    if (end === -1 || (end + 1 === bytes.length && !isEnd)) return { lines, to: { at, before } };
    const text = bytes.toString("utf8", start, end);
    // Blanks stand for a line that a person took out.
    if (text.trim() !== "") {
      const isClosed = end + 1 === bytes.length || bytes[end + 1] === newline;
      const record = recordOf(text, { at, before }, isClosed);
      if (record !== undefined) lines.push({ at, record });
      before = record === undefined ? "torn" : "whole";
    } else before = "blank";
    start = end + 1;
  }
};
