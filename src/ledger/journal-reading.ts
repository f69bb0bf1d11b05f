import type { FileHandle } from "node:fs/promises";
import { type ClaimRecord, Damage, type JournalRecord, readLines } from "./journal-record.ts";

/** How much is parsed at once: about 500 lines, which block the event loop for a few milliseconds. */
export const stretch = 128 * 1024;

/** Fills the buffer from `at` on, as far as the file has bytes. */
export const fill = async (file: FileHandle, buffer: Buffer, at: number): Promise<Buffer> => {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, at + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
};

/** The line that starts at `at`. */
export const lineAt = async (file: FileHandle, at: number): Promise<JournalRecord> => {
  for (let length = 1_024; ; length *= 8) {
    const bytes = await fill(file, Buffer.alloc(length), at);
    const { lines } = readLines(bytes, { at, before: "blank" }, bytes.length < length);
    const [line] = lines;
    if (line?.at === at) return line.record;
    if (line !== undefined || bytes.length < length) throw new Damage(at, "is not what it was");
  }
};

/** The claim whose line starts at `at`. */
export const claimAtLine = async (file: FileHandle, at: number): Promise<ClaimRecord> => {
  const record = await lineAt(file, at);
  if ("touchpointLedger" in record || "settle" in record) throw new Damage(at, "is not what it was");
  return record;
};

/** Counts lines as an editor does, from 1. */
const lineNumber = async (file: FileHandle, at: number): Promise<number> => {
  let lines = 1;
  for (let from = 0; from < at; from += stretch) {
    const bytes = await fill(file, Buffer.alloc(Math.min(stretch, at - from)), from);
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, end + 1)) lines += 1;
  }
  return lines;
};

/** An error that names the damaged line. */
export const located = async (file: FileHandle, error: unknown): Promise<unknown> =>
  error instanceof Damage
    ? new Error(`line ${await lineNumber(file, error.at)} ${error.message}`, { cause: error })
    : error;
