import { ValidationError } from "../errors.ts";
import { isIterable } from "../runtime/values.ts";
import type { WriteOptions, Written } from "./options.ts";
import type { Sink } from "./target.ts";

const hintFor = (records: unknown): string => {
  const { data, then }: { data?: unknown; then?: unknown } = Object(records);
  if (Array.isArray(data)) return "; this is one page: give page.data, or the list itself without await";
  return typeof then === "function" ? "; this is a promise: await it" : "";
};

/** Refuses a value that is not a source of records before a file is touched. @throws ValidationError */
export const assertRecords = (records: unknown): void => {
  if (isIterable(records)) return;
  throw new ValidationError(
    `the records must be an array, a generator or a stream of objects${hintFor(records)}`,
  );
};

/** The text of a file: what it starts with, and its records. */
export interface FileForm {
  readonly header: string;
  /** @param number - of the record, from 1, for error messages. */
  readonly row: (record: object, number: number) => string;
}

/** A piece of the file: a record, or its header. */
export interface Piece {
  readonly text: string;
  readonly isRecord: boolean;
}

/** The header, if there is one, and the records. */
export async function* piecesOf(
  records: Iterable<object> | AsyncIterable<object>,
  { header, row }: FileForm,
): AsyncGenerator<Piece> {
  if (header !== "") yield { text: header, isRecord: false };
  let number = 0;
  for await (const record of records) {
    number += 1;
    yield { text: row(record, number), isRecord: true };
  }
}

const blockLength = 64 * 1024;

/**
 * Collects pieces into blocks and writes one after the other; the next piece is requested when a block was written.
 *
 * After any failure, the source is closed, the sink is abandoned, and the first error is thrown.
 */
export const writePieces = async (
  sink: Sink,
  pieces: AsyncIterable<Piece>,
  { onWritten }: Pick<WriteOptions, "onWritten">,
): Promise<Written> => {
  let written: Written = { records: 0, bytes: 0 };
  let texts: string[] = [];
  let length = 0;
  let records = 0;
  const flush = async (): Promise<void> => {
    const block = Buffer.from(texts.join(""));
    texts = [];
    length = 0;
    await sink.write(block);
    written = { records, bytes: written.bytes + block.length };
    await onWritten?.(written);
  };
  try {
    for await (const { text, isRecord } of pieces) {
      texts.push(text);
      length += text.length;
      if (isRecord) records += 1;
      if (length >= blockLength) await flush();
    }
    if (length > 0) await flush();
    await sink.commit();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
  return written;
};
