import fs from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { betweenSync } from "../../support/between-sync.ts";

/** What every open file inherits, to be spied on. */
export const openFiles = async (path: string): Promise<FileHandle> => {
  const directory = await open(dirname(path));
  await directory.close();
  return Object.getPrototypeOf(directory);
};

/** The file behind an open descriptor; undefined if it is closed. */
const fileOf = (fd: number): number | undefined => {
  try {
    return fs.fstatSync(fd).ino;
  } catch {
    return undefined;
  }
};

/** Notes what is forced to disk, in order: the ledger's file, or the directory with its name. */
export const watchSyncs = () => {
  const synced: string[] = [];
  const seen = new Map<number, number | undefined>();
  betweenSync((original) => (fd, callback) => {
    synced.push(fs.fstatSync(fd).isDirectory() ? "directory" : "ledger");
    seen.set(fd, fileOf(fd));
    original(fd, callback);
  });
  return {
    synced,
    /** Files that were forced to disk and are open still. */
    leftOpen: () => [...seen].filter(([fd, file]) => fileOf(fd) === file).length,
  };
};
