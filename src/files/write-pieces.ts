import type { Sink } from "./sink.ts";
import type { WriteOptions, Written } from "./write-options.ts";

/** A piece of the file: a record, or something that is none, such as the header. */
export interface Piece {
  readonly text: string;
  readonly isRecord: boolean;
}

const blockLength = 64 * 1024;

/**
 * Gathers pieces into blocks and writes one after the other; the next piece is asked for when a block has gone out.
 *
 * Whatever fails, the source is closed, the sink abandoned, and the first error thrown.
 */
export const writePieces = async (
  sink: Sink,
  pieces: AsyncIterable<Piece>,
  options: WriteOptions,
): Promise<Written> => {
  let written: Written = { records: 0, bytes: 0 };
  let texts: string[] = [];
  let length = 0;
  let records = 0;
  const flush = async (): Promise<void> => {
    const block = Buffer.from(texts.join(""));
    await sink.write(block);
    written = { records, bytes: written.bytes + block.length };
    texts = [];
    length = 0;
    await options.onWritten?.(written);
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
