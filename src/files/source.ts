import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createGunzip } from "node:zlib";
import { ConfigurationError } from "../errors.ts";
import { isBytes, messageOf } from "../runtime/values.ts";

/**
 * Unpacks gzip, one chunk at a time.
 *
 * Ending the iteration early also waits until the source is closed. A source that fails rejects with its own error.
 */
async function* gunzipped(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  const ended = pipeline(source, gunzip).catch(() => {
    // The transform is destroyed with the same error, so the loop below throws it.
  });
  try {
    yield* gunzip;
  } finally {
    // Leaving the loop has destroyed the transform and thereby ends the pipeline, but not at once.
    await ended;
  }
}

/** A source: the path of a file, a `file:` URL, a stream, or any async iterable of bytes or strings. */
export type FileSource = string | URL | Readable | AsyncIterable<Uint8Array | string>;

async function* fileChunks(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  try {
    yield* file;
  } finally {
    // Leaving the loop closes the file, but not at once.
    if (!file.closed) await new Promise<void>((resolve) => file.once("close", resolve));
  }
}

async function* explained(name: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause;
    throw new ConfigurationError(`${name}: cannot be read (${messageOf(cause)})`, { cause });
  }
}

const isHighSurrogate = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text);

async function* asBytes(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  // A string may be split between the two halves of an emoji; each half alone has no UTF-8 form.
  let half = "";
  for await (const chunk of chunks) {
    if (typeof chunk === "string") {
      const text = half + chunk;
      half = isHighSurrogate(text) ? text.slice(-1) : "";
      yield Buffer.from(half === "" ? text : text.slice(0, -1));
    } else if (isBytes(chunk)) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    else throw new ConfigurationError(`the source gave ${typeof chunk} instead of bytes or strings`);
  }
  if (half !== "") yield Buffer.from(half);
}

const gzipStart = Buffer.from([0x1f, 0x8b]);

/**
 * Unpacks data that starts like gzip.
 *
 * @throws ConfigurationError for data that is not gzip, if its name says that it is.
 */
async function* unpacked(chunks: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < gzipStart.length) {
    const { value, done } = await chunks.next();
    if (done) break;
    start = start.length === 0 ? value : Buffer.concat([start, value]);
  }
  async function* all(): AsyncGenerator<Buffer> {
    try {
      if (start.length > 0) yield start;
      yield* chunks;
    } finally {
      // If the consumer leaves at the first bytes, it has not entered the loop over the others.
      await chunks.return(undefined);
    }
  }
  if (start.subarray(0, gzipStart.length).equals(gzipStart)) return yield* gunzipped(all());
  if (!/\.gz$/i.test(name)) return yield* all();
  await chunks.return(undefined);
  const fault = start.length === 0 ? "it is empty" : "it is not gzip";
  throw new ConfigurationError(`${name}: cannot be unpacked: ${fault}; rename it if it is plain text`);
}

/** The path of a file named by a string or a `file:` URL; undefined for anything else. */
export const pathOf = (place: unknown): string | undefined => {
  if (typeof place === "string") return place;
  return place instanceof URL ? fileURLToPath(place) : undefined;
};

/**
 * Converts any source to chunks. Files are opened at the first chunk, and closed when the iteration ends.
 *
 * @param given - the name in error messages; by default the path or `input`.
 */
export const openSource = (
  source: FileSource,
  given: string | undefined,
): { readonly name: string; readonly chunks: AsyncIterable<Buffer> } => {
  const path = pathOf(source);
  const name = given ?? path ?? "input";
  if (path !== undefined) return { name, chunks: explained(name, unpacked(fileChunks(path), name)) };
  // Not a string or URL, so it is a stream or an iterable; the types exclude anything else.
  const stream = source as AsyncIterable<Uint8Array | string>;
  if (typeof stream?.[Symbol.asyncIterator] === "function")
    return { name, chunks: unpacked(asBytes(stream), name) };
  throw new ConfigurationError("the source must be a path, a file: URL, a stream or an async iterable");
};
