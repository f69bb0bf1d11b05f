import { open } from "node:fs/promises";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { ConfigurationError } from "../errors.ts";
import { explained, openDraft } from "../runtime/atomic-file.ts";
import type { WriteOptions } from "./options.ts";
import { pathOf } from "./source.ts";

/** A target for records: the path of a file, a `file:` URL, or a stream, which is not ended. */
export type FileTarget = string | URL | Writable;

/** The target of blocks. */
export interface Sink {
  write(block: Uint8Array): Promise<void>;
  /** Everything has been written: makes it durable. */
  commit(): Promise<void>;
  /** Something failed: closes everything, and leaves no incomplete file under the final name. */
  abandon(): Promise<void>;
}

/** Adds the file name to the errors of its sink. */
const naming = (name: string, sink: Sink): Sink => ({
  write: (block) => explained(name, () => sink.write(block)),
  commit: () => explained(name, () => sink.commit()),
  abandon: () => sink.abandon(),
});

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

/** Compresses the blocks for another sink. */
const gzipSink = (inner: Sink): Sink => {
  const gzip = createGzip();
  const drained = pipeline(gzip, async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) await inner.write(chunk);
  });
  // It may fail while no write waits; the next write or commit then throws.
  drained.catch(() => {});
  return {
    // If the inner sink fails, gzip's own error only says that it was aborted.
    write: (block) => writeToStream(gzip, block).catch((error) => drained.then(() => Promise.reject(error))),
    commit: async () => {
      gzip.end();
      await drained;
      await inner.commit();
    },
    abandon: async () => {
      gzip.destroy();
      await drained.catch(() => {});
      await inner.abandon();
    },
  };
};

/** Opens a target. A file appears under its name only when it is complete. */
export const openTarget = async (target: FileTarget, options: WriteOptions): Promise<Sink> => {
  const path = pathOf(target);
  const gzip = options.gzip ?? path?.endsWith(".gz") ?? false;
  if (path === undefined) {
    // Not a string or URL, so it is a stream; the types exclude anything else.
    const writable = target as Writable;
    if (typeof writable?.write !== "function" || typeof writable.on !== "function") {
      throw new ConfigurationError("the target must be a path, a file: URL or a writable stream");
    }
    const stream = streamSink(writable);
    return gzip ? gzipSink(stream) : stream;
  }
  const { handle, commit, discard } = await explained(path, () => openDraft(path));
  // writeFile, because write may accept only a part of the block.
  const file: Sink = { write: (block) => handle.writeFile(block), commit, abandon: discard };
  return naming(path, gzip ? gzipSink(file) : file);
};

/** Opens a file for this run alone, which no other user may read. */
export const openScratch = async (path: string): Promise<Sink> => {
  const handle = await explained(path, () => open(path, "wx", 0o600));
  return naming(path, {
    write: (block) => handle.writeFile(block),
    commit: () => handle.close(),
    abandon: () => handle.close().catch(() => {}),
  });
};
