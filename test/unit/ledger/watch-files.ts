import { fstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { onTestFinished, vi } from "vitest";

/** What every open file inherits, to be spied on. */
export const openFiles = async (path: string): Promise<FileHandle> => {
  const directory = await open(dirname(path));
  await directory.close();
  return Object.getPrototypeOf(directory);
};

/** Notes what is forced to disk, in order: the ledger's file, or the directory with its name. */
export const watchSyncs = async (path: string) => {
  const prototype = await openFiles(path);
  const synced: string[] = [];
  const seen = new Set<FileHandle>();
  const { sync } = prototype;
  const spy = vi.spyOn(prototype, "sync").mockImplementation(function (this: FileHandle) {
    synced.push(fstatSync(this.fd).isDirectory() ? "directory" : "ledger");
    seen.add(this);
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return {
    synced,
    /** Files that were forced to disk and are open still. */
    leftOpen: () => [...seen].filter(({ fd }) => fd !== -1).length,
  };
};
