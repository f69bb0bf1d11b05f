import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncDirectoryOf } from "../runtime/atomic-file.ts";
import type { Journal } from "./journal.ts";
import { type JournalFile, successorOf } from "./journal-file.ts";
import { lineOf } from "./journal-record.ts";

const textOf = ({ entries }: Journal): string => {
  const lines = [lineOf({ touchpointLedger: 1, id: crypto.randomUUID() })];
  for (const [key, entry] of entries) lines.push(lineOf({ key, entry }));
  return lines.join("");
};

const lengthOfId = 36;

/** Takes away what killed processes left. One that is still being made only calls its own exchange off. */
const sweep = async (path: string): Promise<void> => {
  const [before = "", after = ""] = successorOf(basename(path), "/").split("/");
  for (const name of await readdir(dirname(path))) {
    const isSuccessor = name.startsWith(before) && name.endsWith(after);
    if (isSuccessor && name.length === before.length + lengthOfId + after.length)
      await rm(join(dirname(path), name), { force: true });
  }
};

/**
 * Puts a file with one line per key in the place of the ledger's, unless somebody else needs the ledger meanwhile: they
 * lift the seal, which takes the successor away, and this ends without a change. A process killed anywhere in here
 * leaves either file whole.
 */
export const compact = async (ledger: JournalFile, file: FileHandle): Promise<void> => {
  const seal = crypto.randomUUID();
  const successor = successorOf(ledger.path, seal);
  // Made before the seal, and never again: whoever lifts the seal takes it away for good.
  const next = await open(successor, "wx", 0o600);
  try {
    try {
      await ledger.append(file, { seal });
      if (ledger.journal.seal !== seal) throw new Error("somebody else was first");
      await next.writeFile(textOf(ledger.journal));
      await next.sync();
    } finally {
      await next.close();
    }
    await rename(successor, ledger.path);
  } catch (error) {
    // The next to use the ledger lifts the seal.
    await rm(successor, { force: true });
    throw error;
  }
  await syncDirectoryOf(ledger.path);
  await sweep(ledger.path);
};
