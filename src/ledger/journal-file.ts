import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { syncDirectoryOf, syncFile } from "../runtime/atomic-file.ts";
import { isMissingFile } from "../runtime/values.ts";
import {
  damage,
  fileStart,
  type JournalLine,
  type JournalRecord,
  lineOf,
  type ReadingPoint,
  readLines,
} from "./journal-record.ts";
import { KeyTable } from "./memory-ledger.ts";
import { claimDetails, type Stored } from "./rules.ts";

// Each line ends with a random id, so the last bytes of a file identify it.
const bytesOfTail = 64;

const { O_APPEND, O_CREAT, O_RDWR } = constants;

/** The number of bytes to parse at once: about 500 lines, which block the event loop for a few milliseconds. */
const bytesPerRead = 128 * 1024;

const bytesForNewestKeys = 64 * 1024;

/** Reads bytes into the buffer, starting at an offset of the file. Returns the filled part. */
const fill = async (file: FileHandle, buffer: Buffer, offset: number): Promise<Buffer> => {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
};

/** A taken key. */
interface JournalEntry extends Stored {
  /** The byte offset of the claim. */
  readonly offset: number;
  /** The number of bytes that the claiming process had read before it appended the claim. */
  readonly seen: number | undefined;
}

/** The keys of a file. Apply its lines in order. */
class JournalKeys extends KeyTable<JournalEntry> {
  /** Applies a line. Returns whether its record took effect. */
  apply({ offset, record }: JournalLine): boolean {
    // Two processes that create the file at the same time both write a first line.
    if ("touchpointLedger" in record) return true;
    if ("settle" in record) return this.settle(record.key, record.claim, record);
    const { key, fingerprint, since, seen, claim } = record;
    const { operation, limitMs } = claimDetails(record);
    // List the fields, because a spread copy of a parsed record takes twice the time and memory.
    const claimed = { key, fingerprint, since, claim, operation, limitMs, offset, seen };
    return this.claim(Object.assign(claimed, { state: "pending", receipt: undefined } as const));
  }
}

/**
 * The file of a ledger, which only grows. If two lines claim the same key, the first line counts, so processes can
 * append without a lock. Each use opens the file and reads only new lines.
 */
export class JournalFile {
  readonly #path: string;
  readonly keys = new JournalKeys();
  #point: ReadingPoint = fileStart;
  /** Whether the first line was read. */
  #hasFirstLine = false;
  /** The last of the bytes read so far. They show whether the file at the path is still the same. */
  #tail: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** The number of bytes read so far. */
  get seen(): number {
    return this.#point.offset;
  }

  /**
   * Opens the file, reads the new lines, and runs the work.
   *
   * @returns undefined if there is no file and `create` is false.
   * @throws Error when the file was replaced, or is not a ledger.
   */
  async use<T>(
    work: (file: FileHandle) => Promise<T>,
    { create }: { create: boolean },
  ): Promise<T | undefined> {
    const wasRead = this.seen > 0;
    const file = await this.#open(create && !wasRead);
    if (file === undefined) return undefined;
    try {
      if (wasRead) await this.#recognize(file);
      // Sync the directory, because the name of a new file must be durable before its content counts.
      else await syncDirectoryOf(await realpath(this.#path));
      await this.#readNewLines(file, undefined);
      if (!this.#hasFirstLine) await this.#begin(file, create);
      return await work(file);
    } finally {
      await file.close();
    }
  }

  /**
   * Appends a record, and reads the file to its end.
   *
   * @returns whether the record took effect: false if another process has claimed or settled the key first.
   * @throws Error when the record is not in the file afterwards.
   */
  async append(file: FileHandle, record: JournalRecord): Promise<boolean> {
    const line = Buffer.from(lineOf(record));
    // Use a single write, so that lines of several processes are never mixed.
    const { bytesWritten } = await file.write(line);
    if (bytesWritten < line.length) throw new Error("the disk is full");
    await syncFile(file);
    const effect = await this.#readNewLines(file, record);
    const [opened, atPath] = await Promise.all([
      file.stat({ bigint: true }),
      stat(this.#path, { bigint: true }),
    ]);
    if (effect === undefined || opened.ino !== atPath.ino || opened.dev !== atPath.dev)
      throw new Error("another program replaced the file while it was written");
    return effect;
  }

  async #open(create: boolean): Promise<FileHandle | undefined> {
    try {
      return await open(this.#path, O_RDWR | O_APPEND | (create ? O_CREAT : 0), 0o600);
    } catch (error) {
      if (!isMissingFile(error) || create) throw error;
      if (this.seen > 0) throw new Error("the file existed before, but it is missing now", { cause: error });
      return undefined;
    }
  }

  /** @throws Error when the file no longer contains the bytes that were read before. */
  async #recognize(file: FileHandle): Promise<void> {
    const { size } = await file.stat();
    if (size < this.seen)
      throw new Error(
        `another program shortened the file: it had at least ${this.seen} bytes, but now has ${size}`,
      );
    const offset = this.seen - this.#tail.length;
    const tail = await fill(file, Buffer.alloc(this.#tail.length), offset);
    if (!tail.equals(this.#tail)) throw damage(this.#point.line - 1, "has changed since it was last read");
  }

  async #begin(file: FileHandle, create: boolean): Promise<void> {
    const beginning = (await fill(file, Buffer.alloc(1), 0)).toString();
    // Each record starts with a line break. After a power cut, a file may start with zeros.
    if (!["", "\n", "\0"].includes(beginning)) throw damage(1, "was not written by a ledger");
    if (!create) return;
    // Ignore a failure. The empty file may belong to another user.
    await file.chmod(0o600).catch(() => undefined);
    await this.append(file, { touchpointLedger: 1, id: crypto.randomUUID() });
  }

  /**
   * Reads the file to its end. Returns whether the record `own` took effect; undefined if the new lines don't contain
   * it.
   */
  async #readNewLines(file: FileHandle, own: JournalRecord | undefined): Promise<boolean | undefined> {
    let effect: boolean | undefined;
    const { size } = await file.stat();
    for (let length = bytesPerRead, isEnd = false; !isEnd; ) {
      const { offset } = this.#point;
      const bytes = await fill(file, Buffer.alloc(Math.min(length, Math.max(0, size - offset))), offset);
      isEnd = offset + bytes.length >= size;
      if (!isEnd && bytes.length < length) throw new Error(becameShorter);
      const { lines, to } = readLines(bytes, this.#point, isEnd);
      const [first] = lines;
      if (!this.#hasFirstLine && first !== undefined && !("touchpointLedger" in first.record))
        throw damage(first.line, "is not the first line of a ledger");
      this.#hasFirstLine ||= first !== undefined;
      this.#point = to;
      const read = bytes.subarray(Math.max(0, to.offset - offset - bytesOfTail), to.offset - offset);
      this.#tail = Buffer.concat([this.#tail, read]).subarray(-bytesOfTail);
      for (const line of lines) {
        const isEffective = this.keys.apply(line);
        if (own !== undefined && idOf(own) === idOf(line.record)) effect ??= isEffective;
      }
      // If no line was complete, read twice as much.
      length = to.offset === offset ? 2 * length : bytesPerRead;
    }
    return effect;
  }
}

const becameShorter =
  "another program shortened the file while it was read. Stop that program (for example log rotation or a file sync), " +
  "then restore the file from a backup";

const idOf = (record: JournalRecord): string => {
  if ("touchpointLedger" in record) return record.id;
  return "settle" in record ? record.settle : record.claim;
};

/**
 * Reads the most recent keys from the end of the file, the latest first, so that a list can start at once.
 *
 * Earlier lines, which are not read here, may claim the same keys. So the function returns only keys whose claiming
 * process had read all of those lines and found no claim.
 */
export const newestKeys = async (path: string): Promise<JournalEntry[]> => {
  const file = await open(path).catch(() => undefined);
  try {
    if (file === undefined) return [];
    const { size } = await file.stat();
    const begin = Math.max(0, size - bytesForNewestKeys);
    const bytes = await fill(file, Buffer.alloc(size - begin), begin);
    // Start between the line breaks of two records, because the first line may be incomplete.
    const cut = bytes.indexOf("\n\n") + 1;
    const from = { ...fileStart, offset: begin + cut };
    const keys = new JournalKeys();
    for (const line of readLines(bytes.subarray(cut), from, true).lines) keys.apply(line);
    const newest = keys.newestFirst();
    const uncertain = newest.findIndex(({ seen = 0 }) => seen < from.offset);
    return uncertain === -1 ? newest : newest.slice(0, uncertain);
  } catch {
    // Ignore the error. The caller then reads the complete file, and gets an error that names the line.
    return [];
  } finally {
    await file?.close();
  }
};
