import { type FileHandle, open, truncate } from "node:fs/promises";
import { openDraft } from "../runtime/atomic-file.ts";
import { handleSink, type Sink } from "./sink.ts";

/** A file that appears under its name only when it is complete. */
export const replacingSink = async (path: string): Promise<Sink> => {
  const { handle, commit, discard } = await openDraft(path);
  return { write: handleSink(handle).write, commit, abandon: discard };
};

const closingSink = (handle: FileHandle): Sink => ({
  write: handleSink(handle).write,
  commit: async () => {
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  abandon: () => handle.close().catch(() => {}),
});

/** A file for this run alone, which nobody else may read. */
export const scratchSink = async (path: string): Promise<Sink> => closingSink(await open(path, "wx", 0o600));

/** The end of a file whose first `keepBytes` bytes are kept; made when it is missing. */
export const appendingSink = async (path: string, keepBytes: number): Promise<Sink> => {
  const sink = closingSink(await open(path, "a"));
  try {
    await truncate(path, keepBytes);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
  return sink;
};
