import { open } from "node:fs/promises";
import type { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createGunzip } from "node:zlib";
import { ConfigurationError } from "../errors.ts";
import { isBytes, messageOf } from "../runtime/values.ts";

/**
 * Passes bytes through a transform such as gunzip, one chunk at a time.
 *
 * Ending the iteration early also waits until the source is closed. A source that fails rejects with its own error.
 */
async function* through(
  source: AsyncIterable<Uint8Array | string>,
  transform: Transform,
): AsyncGenerator<Uint8Array> {
  const ended = pipeline(source, transform).catch(() => {
    // The transform is destroyed with the same error, so the loop below throws it.
  });
  try {
    yield* transform;
  } finally {
    // Leaving the loop has destroyed the transform and thereby ends the pipeline, but not at once.
    await ended;
  }
}

/** A source: the path of a file, a `file:` URL, a stream, or any async iterable of bytes or strings. */
export type FileSource = string | URL | Readable | AsyncIterable<Uint8Array | string>;

/** A source that is ready to be read: its bytes, and its name in error messages. */
export interface OpenSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Buffer>;
}

const chunkBytes = 64 * 1024;

async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path);
  try {
    for (;;) {
      // A new buffer each time: incomplete lines still point into the last one.
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
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

/** Any chunks as bytes. */
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
 * Unpacks data that starts like gzip; the option `gzip` overrides the detection.
 *
 * @throws ConfigurationError for data that is not gzip, if `gzip` or its name says that it is.
 */
async function* unpacked(
  chunks: AsyncGenerator<Buffer>,
  { gzip, name }: { readonly gzip: boolean | undefined; readonly name: string },
): AsyncGenerator<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (gzip !== false && start.length < gzipStart.length) {
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
  if (gzip !== false && start.subarray(0, gzipStart.length).equals(gzipStart))
    return yield* asBytes(through(all(), createGunzip()));
  if (!(gzip ?? /\.gz$/i.test(name))) return yield* all();
  await chunks.return(undefined);
  const fault = start.length === 0 ? "it is empty" : "it is not gzip";
  throw new ConfigurationError(
    `${name}: cannot be unpacked: ${fault}; for plain text rename it or set gzip: false`,
  );
}

/** The path of a file named by a string or a `file:` URL; undefined for anything else. */
export const pathOf = (place: unknown): string | undefined => {
  if (typeof place === "string") return place;
  return place instanceof URL ? fileURLToPath(place) : undefined;
};

/**
 * Converts any source to chunks. Files are opened at the first chunk, and closed when the iteration ends.
 *
 * @param options - `gzip` defaults to detection by the first bytes, `name` to the path or `input`.
 */
export const openSource = (
  source: FileSource,
  options: { readonly gzip?: boolean | undefined; readonly name?: string | undefined },
): OpenSource => {
  const path = pathOf(source);
  const name = options.name ?? path ?? "input";
  if (path !== undefined) {
    const bytes = unpacked(asBytes(fileChunks(path)), { gzip: options.gzip, name });
    return { name, chunks: explained(name, bytes) };
  }
  // Not a string or URL, so it is a stream or an iterable; the types exclude anything else.
  const stream = source as AsyncIterable<Uint8Array | string>;
  if (typeof stream?.[Symbol.asyncIterator] !== "function") {
    throw new ConfigurationError("the source must be a path, a file: URL, a stream or an async iterable");
  }
  return { name, chunks: unpacked(asBytes(stream), { gzip: options.gzip, name }) };
};
