import { UsageError } from "./cli-command.ts";

/** What a file holds, by the end of its name. */
export interface RecordFile {
  readonly format: "csv" | "ndjson";
  readonly isCompressed: boolean;
}

/**
 * Tells by its name what a file holds.
 *
 * @throws UsageError for a name that does not tell.
 */
export const recordFile = (path: string): RecordFile => {
  const [, ending, gz] = /\.(csv|ndjson|jsonl)(\.gz)?$/i.exec(path) ?? [];
  if (ending === undefined)
    throw new UsageError(`${path}: the name must end with .csv or .ndjson, and may go on with .gz`);
  return { format: ending.toLowerCase() === "csv" ? "csv" : "ndjson", isCompressed: gz !== undefined };
};
