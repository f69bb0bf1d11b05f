import type { Writable } from "node:stream";
import { ConfigurationError } from "../errors.ts";
import { explained, openDraft } from "../runtime/atomic-file.ts";
import { pathOf } from "./source.ts";

/** A target for records: the path of a file, a `file:` URL, or a stream, which is not ended. */
export type FileTarget = string | URL | Writable;

/** The target of blocks. */
interface Sink {
  write(block: Uint8Array): Promise<void>;
  /** Everything has been written: makes it durable. */
  commit(): Promise<void>;
  /** Something failed: closes everything, and leaves no incomplete file under the final name. */
  abandon(): Promise<void>;
}

/**
 * Writes a block and waits until the stream has accepted it, so that at most one block is in memory.
 *
 * If the stream is closed meanwhile, it may never call back; the listener handles that.
 */
const writeToStream = (stream: Writable, block: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (error: Error | null | undefined): void => {
      stream.off("close", onClose);
      if (error) reject(error);
      else resolve();
    };
    const onClose = (): void => {
      settle(stream.errored ?? new ConfigurationError("the stream was closed before everything was written"));
    };
    stream.once("close", onClose);
    if (stream.destroyed) onClose();
    else stream.write(block, settle);
  });

/** A stream of the caller. It is not ended: it may be standard output, or get more data. */
const streamSink = (stream: Writable): Sink => {
  // An error between two blocks also belongs to the next write. Without a listener, it would end the process.
  const ignore = (): void => {};
  stream.on("error", ignore);
  return {
    write: (block) => writeToStream(stream, block),
    commit: async () => void stream.off("error", ignore),
    // The listener stays: the event may come after the callback with the error.
    abandon: async () => {},
  };
};

/** Opens a target. A file appears under its name only when it is complete. */
export const openTarget = async (target: FileTarget): Promise<Sink> => {
  const path = pathOf(target);
  if (path !== undefined) {
    const { handle, commit, discard } = await explained(path, () => openDraft(path));
    return {
      // writeFile, because write may accept only a part of the block.
      write: (block) => explained(path, () => handle.writeFile(block)),
      commit: () => explained(path, commit),
      abandon: discard,
    };
  }
  // Not a string or URL, so it is a stream; the types exclude anything else.
  const writable = target as Writable;
  if (typeof writable?.write === "function" && typeof writable.on === "function") return streamSink(writable);
  throw new ConfigurationError("the target must be a path, a file: URL or a writable stream");
};
