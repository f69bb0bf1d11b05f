import { clearImmediate, setImmediate } from "node:timers";
import { ValidationError } from "../errors.ts";
import { isIterable } from "../runtime/values.ts";
import type { WriteOptions, Written } from "./options.ts";
import type { Sink } from "./sink.ts";

/** Calls `work` when a full turn of the event loop has brought nothing new. */
class IdleWatch {
  readonly #work: () => void;
  #turn: NodeJS.Immediate | undefined;
  #isBusy = false;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** Something new has come. */
  taken(): void {
    this.#isBusy = true;
    this.#turn ??= setImmediate(() => this.#look());
  }

  stop(): void {
    clearImmediate(this.#turn);
  }

  #look(): void {
    this.#turn = undefined;
    if (!this.#isBusy) return this.#work();
    this.#isBusy = false;
    this.#turn = setImmediate(() => this.#look());
  }
}

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

/** A piece of the file: a record, or something else, such as the header. */
export interface Piece {
  readonly text: string;
  readonly isRecord: boolean;
}

const blockLength = 64 * 1024;

/**
 * Collects pieces into blocks and writes one after the other; the next piece is requested when a block was written.
 *
 * With `isEager`, a block is also written when the source has nothing ready, for example while it loads the next page: a
 * killed run then loses nothing that came before. After any failure, the source is closed, the sink is abandoned, and
 * the first error is thrown.
 */
export const writePieces = async (
  sink: Sink,
  pieces: AsyncIterable<Piece>,
  { isEager = false, onWritten }: Pick<WriteOptions, "onWritten"> & { readonly isEager?: boolean },
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
  let early: Promise<void> | undefined;
  const idle = new IdleWatch(() => {
    // A header alone can wait for a record.
    if (length === 0 || records === written.records) return;
    early = flush();
    // The error is thrown where it is awaited, with the next piece.
    early.catch(() => {});
  });
  try {
    for await (const { text, isRecord } of pieces) {
      if (early !== undefined) await early;
      early = undefined;
      texts.push(text);
      length += text.length;
      if (isRecord) records += 1;
      if (length >= blockLength) await flush();
      else if (isEager) idle.taken();
    }
    await early;
    if (length > 0) await flush();
    await sink.commit();
  } catch (error) {
    // No block may be written, nor a checkpoint, once the sink is being abandoned.
    idle.stop();
    let first: unknown = error;
    // It started before the source failed, and must end before its file is abandoned.
    await early?.catch((failure: unknown) => {
      first = failure;
    });
    await sink.abandon();
    throw first;
  } finally {
    idle.stop();
  }
  return written;
};
