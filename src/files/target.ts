import type { Writable } from "node:stream";
import { ConfigurationError, isTouchpointError } from "../errors.ts";
import { messageOf } from "../runtime/values.ts";
import type { WriteOptions } from "./options.ts";
import { gzipSink, replacingSink, type Sink, scratchSink, streamSink } from "./sink.ts";
import { pathOf } from "./source.ts";

/** A target for records: the path of a file, a `file:` URL, or a stream, which is not ended. */
export type FileTarget = string | URL | Writable;

/** Runs a file operation; its errors name the file. */
export const explained = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (isTouchpointError(cause)) throw cause;
    throw new ConfigurationError(`${name}: cannot be written (${messageOf(cause)})`, { cause });
  }
};

/** Adds the file name to the errors of its sink. */
export const naming = (name: string, sink: Sink): Sink => ({
  write: (block) => explained(name, () => sink.write(block)),
  commit: () => explained(name, () => sink.commit()),
  abandon: () => sink.abandon(),
});

/** Opens a target; a file is replaced. */
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
  const file = await explained(path, () => replacingSink(path));
  return naming(path, gzip ? gzipSink(file) : file);
};

/** Opens a file for this run alone. */
export const openScratch = async (path: string): Promise<Sink> =>
  naming(path, await explained(path, () => scratchSink(path)));
