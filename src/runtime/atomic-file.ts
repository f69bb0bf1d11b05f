import { randomUUID } from "node:crypto";
import { constants, fsync, type Stats } from "node:fs";
import { type FileHandle, open, readdir, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { ConfigurationError, isTouchpointError } from "../errors.ts";
import { isMissingFile, messageOf } from "./values.ts";

/** Runs a file operation. Adds the name of the file to its errors. */
export const explained = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (isTouchpointError(cause)) throw cause;
    throw new ConfigurationError(`${name} cannot be written: ${messageOf(cause)}`, { cause });
  }
};

/** The new content of a file. When the draft is committed, it replaces the file, or creates it. */
export interface Draft {
  /** The path of the draft until it is committed. */
  readonly path: string;
  append(block: string | Uint8Array): Promise<void>;
  /** Makes the appended bytes durable. @throws ConfigurationError if another run has replaced a kept draft. */
  sync(): Promise<void>;
  /** Makes the draft durable, renames and closes it. If this fails, the caller discards the draft. */
  commit(): Promise<void>;
  /** Closes the draft and leaves the target unchanged. */
  discard(): Promise<void>;
  /** Does the same as `discard`, and also removes a kept draft, unless it belongs to another run. */
  remove(): Promise<void>;
}

interface DraftOptions {
  /**
   * Whether `discard` keeps the draft, so that a later run can resume it. The draft then has the path that
   * `keptDraftOf` returns. By default, the draft has a random name, and `discard` removes it.
   */
  readonly isKept?: boolean;
  /** The number of bytes after which to resume the draft. By default, a new draft is started. */
  readonly keepBytes?: number | undefined;
  /** The permissions of a new file, before the umask. Default 0o666. */
  readonly mode?: number | undefined;
}

/** Makes the bytes of a file durable. The `sync` of a FileHandle is not implemented under Yarn Plug'n'Play. */
export const syncFile = (file: FileHandle): Promise<void> => promisify(fsync)(file.fd);

/** Makes a new name in a folder durable. Windows cannot sync a folder, but a name is durable there anyway. */
export const syncDirectoryOf = async (path: string): Promise<void> => {
  const folder = await open(dirname(path)).catch(() => undefined);
  if (folder === undefined) return;
  await syncFile(folder).catch(() => {});
  await folder.close();
};

/** Follows symbolic links, even the last one if its target does not exist yet. */
export const destinationOf = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissingFile(error)) throw error;
  }
  const absolute = resolve(path);
  const resolved = join(await realpath(dirname(absolute)), basename(absolute));
  const link = await readlink(resolved).catch(() => undefined);
  return link === undefined ? resolved : destinationOf(resolve(dirname(resolved), link));
};

const statIfThere = async (path: string): Promise<Stats | undefined> => {
  try {
    return await stat(path);
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
};

// O_NOFOLLOW does not exist on Windows.
const readOnly = (): number => constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

const chunkBytes = 1024 * 1024;

/** Copies the first bytes of a draft to a new file. */
const copyStart = async (path: string, bytes: number, copy: string): Promise<FileHandle> => {
  const source = await open(path, readOnly());
  try {
    const handle = await open(copy, "wx", (await source.stat()).mode & 0o777);
    try {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, bytes));
      for (let copied = 0; copied < bytes; ) {
        const { bytesRead } = await source.read(chunk, 0, Math.min(chunk.length, bytes - copied), copied);
        if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
        await handle.writeFile(chunk.subarray(0, bytesRead));
        copied += bytesRead;
      }
      return handle;
    } catch (error) {
      await handle.close();
      await rm(copy, { force: true });
      throw error;
    }
  } finally {
    await source.close();
  }
};

const openDraftFile = async (
  path: string,
  mode: number,
  keepBytes: number | undefined,
): Promise<FileHandle> => {
  // Don't reuse an existing draft, because other processes may have it open, or may have replaced it with a link.
  if (keepBytes === undefined) {
    await rm(path, { force: true });
    return open(path, "wx", mode);
  }
  // Copy a resumed draft, too, so that each run has a separate file and cannot change the file of another run.
  const copy = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  const handle = await copyStart(path, keepBytes, copy);
  await rename(copy, path);
  return handle;
};

/** A text that distinguishes a file from earlier and later files with the same name; undefined if there is no file. */
export const identityOf = async (path: string): Promise<string | undefined> => {
  const atPath = await stat(path, { bigint: true }).catch(() => undefined);
  // A new file may get the inode number of a removed one, so the time and the size are part of the identity.
  return atPath && [atPath.dev, atPath.ino, atPath.mtimeNs, atPath.size].join(" ");
};

/** Whether the path is still the name of the open file. */
const isNameOf = async (path: string, handle: FileHandle): Promise<boolean> => {
  const opened = await handle.stat({ bigint: true });
  const atPath = await stat(path, { bigint: true }).catch(() => undefined);
  return opened.ino === atPath?.ino && opened.dev === atPath.dev;
};

const keptDraft = (target: string): string => `${target}.partial`;

/** The path of the draft that a later run resumes. */
export const keptDraftOf = async (path: string): Promise<string> => keptDraft(await destinationOf(path));

/**
 * Starts a draft. A pipe or device is written directly, without a draft.
 *
 * Follows links and keeps the permissions of a replaced file; the draft never has more permissions than that file.
 */
const startDraft = async (
  path: string,
  { isKept = false, keepBytes, mode = 0o666 }: DraftOptions,
): Promise<Draft> => {
  const target = await destinationOf(path);
  const old = await statIfThere(target);
  const isDirect = old !== undefined && !old.isFile();
  const temporary = isKept ? keptDraft(target) : `${target}.${randomUUID().slice(0, 8)}.tmp`;
  const draft = isDirect ? target : temporary;
  const handle = isDirect
    ? await open(target, "w")
    : await openDraftFile(draft, old === undefined ? mode : old.mode & 0o777, keepBytes);
  let bytes = keepBytes ?? 0;
  /** Refuses a draft that another run has replaced, because both runs started at the same time. */
  const requireOwn = async (): Promise<void> => {
    if (!isKept || isDirect) return;
    if (!(await isNameOf(draft, handle)) || (await handle.stat()).size !== bytes)
      throw new ConfigurationError(`${draft}: another run is writing this file; give each run its own path`);
  };
  return {
    path: draft,
    append: async (block) => {
      await requireOwn();
      // Use writeFile, because write may accept only a part of the block.
      await handle.writeFile(block);
      bytes += Buffer.byteLength(block);
    },
    sync: async () => {
      await syncFile(handle);
      await requireOwn();
    },
    commit: async () => {
      if (isDirect) return handle.close();
      // The permissions may differ: the umask removed some, or the draft is older than the file that it replaces.
      if (old !== undefined && (await handle.stat()).mode !== old.mode) await handle.chmod(old.mode & 0o7777);
      await syncFile(handle);
      await requireOwn();
      // Windows can't rename an open file.
      await handle.close();
      await rename(draft, target);
      await syncDirectoryOf(target);
    },
    discard: async () => {
      await handle.close().catch(() => {});
      if (!isKept && !isDirect) await rm(draft, { force: true });
    },
    remove: async () => {
      // If the draft was already committed or discarded, the handle is closed, and `isNameOf` fails.
      const isOwn = !isDirect && (await isNameOf(draft, handle).catch(() => false));
      await handle.close().catch(() => {});
      if (isOwn) await rm(draft, { force: true });
    },
  };
};

/** Does the same as `startDraft`, with errors that name the file. @param name - the name of the file in errors. */
export const openDraft = async (path: string, name: string, options: DraftOptions = {}): Promise<Draft> => {
  const draft = await explained(name, () => startDraft(path, options));
  return {
    ...draft,
    append: (block) => explained(name, () => draft.append(block)),
    sync: () => explained(name, draft.sync),
    commit: () => explained(name, draft.commit),
  };
};

/** Removes the drafts with random names that killed runs have left: those that are older than this process. */
export const removeOldDrafts = async (path: string): Promise<void> => {
  const target = await destinationOf(path).catch(() => undefined);
  if (target === undefined) return;
  const [folder, name] = [dirname(target), basename(target)];
  for (const entry of await readdir(folder)) {
    if (!entry.startsWith(`${name}.`) || !/^\.[0-9a-f]{8}\.tmp$/.test(entry.slice(name.length))) continue;
    const old = await statIfThere(join(folder, entry));
    if (old !== undefined && old.mtimeMs < performance.timeOrigin)
      await rm(join(folder, entry), { force: true });
  }
};

/** Writes a complete file. At any time, its name has either the old content or the new content. */
export const writeFileAtomically = async (path: string, text: string, mode?: number): Promise<void> => {
  const draft = await startDraft(path, { mode });
  try {
    await draft.append(text);
    await draft.commit();
  } catch (error) {
    await draft.discard();
    throw error;
  }
};
