import type { Claiming, Entry } from "./entries.ts";
import type { Settlement } from "./ledger.ts";

/** One line of a ledger's file. */
export type JournalRecord =
  /** The first line: what the file is, and an id that no other file has. */
  | { readonly touchpointLedger: 1; readonly id: string }
  | Claiming
  | {
      readonly settle: string;
      readonly key: string;
      readonly as: Settlement;
      readonly claim?: string | undefined;
      readonly receipt?: unknown;
    }
  /** A key as an earlier file left it. */
  | { readonly key: string; readonly entry: Entry }
  /** From here on nothing counts: a new file is about to take this one's place … */
  | { readonly seal: string }
  /** … or will never. */
  | { readonly unseal: string };

// The line break in front closes a line that a killed process left unfinished.
export const lineOf = (record: JournalRecord): string => `\n${JSON.stringify(record)}\n`;

// What a power cut leaves of an append: the beginning of a record, or a stretch of zeros.
const isTorn = (line: string): boolean => /^\0+$/.test(line) || '{"'.startsWith(line.slice(0, 2));

const has = (record: object, ...names: readonly string[]): boolean =>
  names.every((name) => typeof Reflect.get(record, name) === "string");

const isRecord = (value: unknown): value is JournalRecord => {
  if (typeof value !== "object" || value === null) return false;
  if ("touchpointLedger" in value) return value.touchpointLedger === 1 && has(value, "id");
  if ("entry" in value) return has(value, "key") && has(Object(value.entry), "state", "fingerprint", "claim");
  if ("settle" in value) return has(value, "settle", "key", "as");
  return has(value, "key", "claim", "fingerprint") || has(value, "seal") || has(value, "unseal");
};

/**
 * Reads a line; undefined where it holds nothing that anybody has relied on.
 *
 * @throws Error when it is no line of a ledger.
 */
export const recordOf = (line: string): JournalRecord | undefined => {
  if (line === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    if (isTorn(line)) return undefined;
    throw new Error("it holds something else than a ledger");
  }
  if (!isRecord(value)) throw new Error("it is damaged, or of another version");
  return value;
};
