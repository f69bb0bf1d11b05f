import { type FileHandle, open } from "node:fs/promises";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { ConfigurationError } from "../errors.ts";
import { openDraft } from "../runtime/atomic-file.ts";

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

/** The target of blocks. */
export interface Sink {
  write(block: Uint8Array): Promise<void>;
  /** Everything has been written: makes it durable. */
  commit(): Promise<void>;
  /** Something failed: closes everything, and leaves no incomplete file under the final name. */
  abandon(): Promise<void>;
}

const nothing = async (): Promise<void> => {};

/** A stream of the caller. It is not ended: it may be standard output, or get more data. */
export const streamSink = (stream: Writable): Sink => {
  // An error between two blocks also belongs to the next write. Without a listener, it would end the process.
  const ignore = (): void => {};
  stream.on("error", ignore);
  return {
    write: (block) => writeToStream(stream, block),
    commit: async () => {
      stream.off("error", ignore);
    },
    // The listener stays: the event may come after the callback with the error.
    abandon: nothing,
  };
};

/** An open file, written at its current position; the caller closes it. */
const handleSink = (handle: FileHandle): Sink => ({
  // writeFile, because write may accept only a part of the block.
  write: (block) => handle.writeFile(block),
  commit: nothing,
  abandon: nothing,
});

/** Compresses the blocks for another sink. */
export const gzipSink = (inner: Sink): Sink => {
  const gzip = createGzip();
  let failure: { readonly error: unknown } | undefined;
  const drained = pipeline(gzip, async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) {
      await inner.write(chunk).catch((error: unknown) => {
        failure = { error };
        throw error;
      });
    }
  });
  // It may fail while no write waits; the next write or commit then throws.
  drained.catch(() => {});
  // Leaving the loop above destroys gzip, whose own error then only says that it was aborted.
  const telling = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      throw failure === undefined ? error : failure.error;
    }
  };
  return {
    write: (block) => telling(writeToStream(gzip, block)),
    commit: async () => {
      gzip.end();
      await telling(drained);
      await inner.commit();
    },
    abandon: async () => {
      gzip.destroy();
      await drained.catch(() => {});
      await inner.abandon();
    },
  };
};

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

/** A file for this run alone, which no other user may read. */
export const scratchSink = async (path: string): Promise<Sink> => closingSink(await open(path, "wx", 0o600));
