import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes a new name in a directory durable; not every file system lets a directory be opened for that. */
export const syncDirectoryOf = async (path: string): Promise<void> => {
  try {
    const directory = await open(dirname(path));
    await directory.sync().finally(() => directory.close());
  } catch {
    // The name is there all the same.
  }
};

let writes = 0;

/** Writes a file so that at any instant it holds the old content or the new, never a part. */
export const writeDurably = async (path: string, text: string): Promise<void> => {
  writes += 1;
  // Two writers of one file, in one process or in two, must not take each other's half away.
  const temporary = `${path}.${process.pid}.${writes}.tmp`;
  try {
    const file = await open(temporary, "w");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncDirectoryOf(path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};
