import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";

/** A record that was refused, as a line of the file shows it. */
export interface RejectedRecord {
  /** Its number in the source, counted from 1. */
  readonly record: number;
  /** The line of the source, where that is known. */
  readonly line?: number;
  /** The service's status; missing when it was never sent. */
  readonly status?: number;
  readonly error: string;
  /** What was refused: the record, or the text of a line that holds none. */
  readonly rejected: unknown;
}

const readExisting = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
};

const numberOf = (line: string): number => {
  const { record }: { record?: unknown } = Object(JSON.parse(line));
  return typeof record === "number" ? record : Number.NaN;
};

/**
 * Opens the file that keeps refused records.
 *
 * @param isResumed - whether the run goes on from a checkpoint: the lines of earlier runs stay then, and a record
 * that is refused again, because its run was killed before the checkpoint, is not listed twice.
 */
export const rejectedFile = async (path: string, isResumed: boolean) => {
  const known = new Set<number>();
  if (isResumed) {
    const text = await readExisting(path);
    // What a killed run left of a last line goes.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (text !== whole) await truncate(path, Buffer.byteLength(whole));
    for (const line of whole.split("\n")) if (line !== "") known.add(numberOf(line));
  } else {
    await writeFile(path, "");
  }
  return async (rejected: RejectedRecord): Promise<void> => {
    if (known.has(rejected.record)) return;
    await appendFile(path, `${JSON.stringify(rejected)}\n`);
  };
};
