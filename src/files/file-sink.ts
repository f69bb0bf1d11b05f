import { randomUUID } from "node:crypto";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissingFile } from "../runtime/cross-realm.ts";
import { handleSink, type Sink } from "./sink.ts";

const unlessMissing = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
};

const syncDirectory = async (path: string): Promise<void> => {
  // Some systems cannot open a directory (Windows) or sync it: there the rename lasts as soon as the system likes.
  const directory = await open(path, "r").catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close();
};

/** Closes the file whatever becomes of the work before it. */
const closing = (handle: FileHandle, sink: Sink): Sink => ({
  write: sink.write,
  commit: async () => {
    try {
      await sink.commit();
    } finally {
      await handle.close();
    }
  },
  abandon: async () => {
    await handle.close().catch(() => {});
    await sink.abandon();
  },
});

/**
 * A file that appears under its name only when it is complete.
 *
 * It is written beside the target as `<target>.<8 characters>.tmp`, synced and renamed. A link is followed, the
 * permissions of a file that is replaced are kept, and a pipe or device is written directly.
 */
export const replacingSink = async (path: string): Promise<Sink> => {
  const target = (await unlessMissing(realpath(path))) ?? path;
  const old = await unlessMissing(stat(target));
  if (old !== undefined && !old.isFile()) {
    const handle = await open(target, "w");
    return closing(handle, handleSink(handle));
  }
  const draft = `${target}.${randomUUID().slice(0, 8)}.tmp`;
  const handle = await open(draft, "wx");
  const discard = async (): Promise<void> => {
    await handle.close().catch(() => {});
    await rm(draft, { force: true });
  };
  return {
    write: handleSink(handle).write,
    commit: async () => {
      if (old !== undefined) await handle.chmod(old.mode & 0o7777);
      await handle.sync();
      await handle.close();
      await rename(draft, target);
      await syncDirectory(dirname(target));
    },
    abandon: discard,
  };
};

/** The end of a file whose first `keepBytes` bytes are kept; made when it is missing. */
export const appendingSink = async (path: string, keepBytes: number): Promise<Sink> => {
  const handle = await open(path, "a");
  const sink = closing(handle, { ...handleSink(handle), commit: () => handle.sync() });
  try {
    await handle.truncate(keepBytes);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
  return sink;
};
