import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { ConfigurationError, ValidationError } from "../errors.ts";
import { type Draft, openDraft } from "../runtime/atomic-file.ts";
import { isIterable } from "../runtime/values.ts";
import type { WriteOptions, Written } from "./options.ts";
import { pathOf } from "./source.ts";

/** A target for records: the path of a file, a `file:` URL, or a stream, which is not ended. */
export type FileTarget = string | URL | Writable;

const hintFor = (records: unknown): string => {
  const { data, then }: { data?: unknown; then?: unknown } = Object(records);
  if (Array.isArray(data))
    return ". You passed one page. Pass page.data, or pass the list without await to write every page";
  return typeof then === "function" ? ". You passed a promise. Await it first" : "";
};

/** Refuses a value that is not a source of records before a file is touched. @throws ValidationError */
export const assertRecords = (records: unknown): void => {
  if (isIterable(records)) return;
  throw new ValidationError(
    `the records must be an array, a generator or a stream of objects${hintFor(records)}`,
  );
};

/** The form of a file: its header, and how to write its records. */
export interface FileForm {
  readonly header: string;
  /** Writes a record. @param number - the number of the record, counted from 1, for error messages. */
  readonly row: (record: object, number: number) => string;
}

/** A part of a file. */
export interface Block {
  readonly text: string;
  /** The number of records from the beginning of the file to the end of this block. */
  readonly records: number;
}

const blockLength = 64 * 1024;

/** Creates the text of a file, in blocks of about 64 KiB. */
export async function* blocksOf(
  records: Iterable<object> | AsyncIterable<object>,
  { header, row }: FileForm,
): AsyncGenerator<Block> {
  let text = header;
  let number = 0;
  for await (const record of records) {
    number += 1;
    text += row(record, number);
    if (text.length < blockLength) continue;
    yield { text, records: number };
    text = "";
  }
  if (text !== "") yield { text, records: number };
}

type Sink = Pick<Draft, "append" | "commit" | "discard">;

/**
 * Writes a block and waits until the stream has accepted it, so that at most one block is in memory.
 *
 * A stream that is closed during the write may never call back, so the function also listens for its end.
 */
const writeToStream = (stream: Writable, block: string | Uint8Array): Promise<void> =>
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

/** Writes to a stream of the caller. Doesn't end the stream, because it may be standard output, or get more data. */
const streamSink = (stream: Writable): Sink => {
  // After an error between two blocks, the next write fails. Without a listener, the error would end the process.
  const ignore = (): void => {};
  stream.on("error", ignore);
  return {
    append: (block) => writeToStream(stream, block),
    commit: async () => void stream.off("error", ignore),
    // Don't remove the listener, because the stream may emit the error after the callback of `write` got it.
    discard: async () => {},
  };
};

/** Opens a target. A file appears under its name only when it is complete. */
const openTarget = async (target: FileTarget): Promise<Sink> => {
  const path = pathOf(target);
  if (path !== undefined) return openDraft(path, path);
  // The value is not a string or URL, so it is a stream. The types exclude anything else.
  const writable = target as Writable;
  if (typeof writable?.write === "function" && typeof writable.on === "function") return streamSink(writable);
  throw new ConfigurationError("the target must be a path, a file: URL or a writable stream");
};

/**
 * Writes blocks to a target. Requests the next block only after it has written the previous one.
 *
 * After a failure, it closes the source, removes the incomplete file, and throws the first error.
 */
export const writeBlocks = async (
  target: FileTarget,
  blocks: AsyncIterable<Block>,
  { gzip, onWritten }: WriteOptions,
): Promise<Written> => {
  const sink = await openTarget(target);
  let written: Written = { records: 0, bytes: 0 };
  async function* chunks(): AsyncGenerator<Buffer> {
    for await (const { text, records } of blocks) {
      const chunk = Buffer.from(text);
      yield chunk;
      written = { records, bytes: written.bytes + chunk.length };
      await onWritten?.(written);
    }
  }
  const writeAll = async (bytes: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of bytes) await sink.append(chunk);
  };
  try {
    if (gzip ?? pathOf(target)?.endsWith(".gz")) await pipeline(chunks, createGzip(), writeAll);
    else await writeAll(chunks());
    await sink.commit();
  } catch (error) {
    await sink.discard();
    throw error;
  }
  return written;
};
