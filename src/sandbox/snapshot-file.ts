import { readFile } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { writeFileAtomically } from "../runtime/atomic-file.ts";
import { refuse, text } from "./checks.ts";
import type { Snapshot } from "./snapshot.ts";

/** Takes and restores snapshots of a sandbox. */
export interface Snapshots {
  take(): Snapshot;
  /** @throws ConfigurationError naming every fault; the sandbox is then unchanged. */
  restore(value: unknown): void;
}

/** Writes a snapshot as JSON. */
export const saveTo = async (file: string, { take }: Snapshots): Promise<void> => {
  refuse("sandbox.save", text(file, "file"));
  await writeFileAtomically(file, `${JSON.stringify(take(), null, 1)}\n`);
};

/** Reads a snapshot. @throws ConfigurationError naming the file and what is wrong with it. */
export const loadFrom = async (file: string, { restore }: Snapshots): Promise<void> => {
  refuse("sandbox.load", text(file, "file"));
  try {
    restore(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^sandbox\.load: /, "") : String(cause);
    throw new ConfigurationError(`sandbox.load: ${file}: ${why}`, { cause });
  }
};
