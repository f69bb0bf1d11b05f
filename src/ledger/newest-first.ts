import { type FileHandle, open } from "node:fs/promises";
import { isMissingFile } from "../runtime/values.ts";
import { fill, located } from "./journal-reading.ts";
import {
  type ClaimRecord,
  Damage,
  type JournalLine,
  readLines,
  type SettleRecord,
} from "./journal-record.ts";
import { claimDetails, type KeyState, type Stored, settled } from "./rules.ts";

const stretch = 64 * 1024;
const blankLine = Buffer.from("\n\n");

/** The records of a ledger's file, from last to first. */
async function* backwards(file: FileHandle): AsyncGenerator<JournalLine> {
  let { size: end } = await file.stat();
  let isEnd = true;
  for (let length = stretch; end > 0; ) {
    const begin = Math.max(0, end - length);
    const bytes = await fill(file, Buffer.alloc(end - begin), begin);
    // Nothing is incomplete between the line breaks of two records.
    const cut = begin === 0 ? 0 : bytes.indexOf(blankLine) + 1;
    if (begin > 0 && (cut === 0 || begin + cut + 1 >= end)) {
      length *= 2;
      continue;
    }
    const from = { at: begin + cut, before: "blank" } as const;
    yield* readLines(bytes.subarray(cut), from, isEnd).lines.toReversed();
    // One more byte, to know that the last line ends there.
    end = begin === 0 ? 0 : begin + cut + 1;
    isEnd = false;
    length = stretch;
  }
}

/** The effect of the settlements of one claim, last first, on its key. */
const outcomeOf = (settlements: readonly SettleRecord[]): { state: KeyState; receipt: unknown } => {
  let state: KeyState = "pending";
  let receipt: unknown;
  for (const settlement of settlements.toReversed()) {
    const next = settled(state, settlement);
    if (next === undefined) continue;
    state = next;
    receipt = settlement.receipt ?? receipt;
  }
  return { state, receipt };
};

/** Whether nothing was written about the key between the claim and what its writer had read. */
const isCertain = async (file: FileHandle, { key, seen }: ClaimRecord, at: number): Promise<boolean> => {
  if (seen === undefined || at - seen > stretch) return false;
  const between = await fill(file, Buffer.alloc(at - seen), seen);
  try {
    const { lines } = readLines(between, { at: seen, before: "blank" }, false);
    return lines.every(({ record }) => !("key" in record) || record.key !== key);
  } catch (error) {
    // Earlier lines are read anyway, by the current process.
    if (error instanceof Damage) return false;
    throw error;
  }
};

/** Called if two processes claimed a key at once: whether the claim that counts starts at `at`. */
type IsHeld = (key: string, at: number) => Promise<boolean>;

async function* rowsOf(file: FileHandle, isHeld: IsHeld): AsyncGenerator<Stored> {
  const settlements = new Map<string, SettleRecord[]>();
  const done = new Set<string>();
  for await (const { at, record } of backwards(file)) {
    if ("touchpointLedger" in record) continue;
    const { key, claim } = record;
    if ("settle" in record) {
      const later = settlements.get(claim);
      if (later === undefined) settlements.set(claim, [record]);
      else later.push(record);
      continue;
    }
    const { state, receipt } = outcomeOf(settlements.get(claim) ?? []);
    settlements.delete(claim);
    if (done.has(key)) continue;
    if (!(await isCertain(file, record, at)) && !(await isHeld(key, at))) continue;
    done.add(key);
    if (state !== "free") yield { ...record, ...claimDetails(record), state, receipt };
  }
}

/** The keys of a ledger's file, newest claim first. It reads from the end, so the first row costs one read. */
export async function* newestFirst(path: string, isHeld: IsHeld): AsyncGenerator<Stored> {
  const file = await open(path).catch((error: unknown) => {
    if (isMissingFile(error)) return undefined;
    throw error;
  });
  if (file === undefined) return;
  try {
    yield* rowsOf(file, isHeld);
  } catch (error) {
    throw await located(file, error);
  } finally {
    await file.close();
  }
}
