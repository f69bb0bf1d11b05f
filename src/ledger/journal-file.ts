import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { syncDirectoryOf } from "../runtime/atomic-file.ts";
import { isMissingFile } from "../runtime/values.ts";
import { claimAtLine, fill, lineAt, located, stretch } from "./journal-reading.ts";
import {
  type ClaimRecord,
  Damage,
  type JournalLine,
  type JournalRecord,
  lineOf,
  type ReadingPoint,
  readLines,
  type SettleRecord,
} from "./journal-record.ts";
import { claimDetails, type KeyState, type Stored, scheduledIdOf, settled } from "./rules.ts";

// The last line ends with a random id, so two files with the same last line are one file.
const bytesOfTail = 64;

const { O_APPEND, O_CREAT, O_RDWR } = constants;

/** Where the file describes a key. Offsets are of lines, in bytes. */
interface Place {
  readonly state: KeyState;
  /** The line of the key's claim. */
  readonly claimAt: number;
  /** The line with its receipt; 0 if there is none, because the first line is never a receipt. */
  readonly receiptAt: number;
  readonly claim: string;
}

/**
 * A ledger's file, which only grows. The order of its lines decides: of two claims on one key, the first one counts. So
 * processes that append need no lock. The file is opened for each use; only new lines are read.
 */
export class JournalFile {
  readonly #path: string;
  readonly #index = new Map<string, Place>();
  /** The position of the claim of a key whose receipt is a scheduled email, by that email's id. */
  readonly #scheduled = new Map<string, number>();
  #point: ReadingPoint = { at: 0, before: "blank" };
  #isNamed = false;
  #tail: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** How much of the file was read, in bytes. */
  get seen(): number {
    return this.#point.at;
  }

  find(key: string): Place | undefined {
    return this.#index.get(key);
  }

  /** What the file says about a key; undefined if it is free. */
  async read(file: FileHandle, key: string): Promise<Stored | undefined> {
    const place = this.#index.get(key);
    if (place === undefined || place.state === "free") return undefined;
    const { state, claimAt, receiptAt } = place;
    const claimed = await claimAtLine(file, claimAt);
    const settlement = receiptAt === 0 ? undefined : await lineAt(file, receiptAt);
    const receipt = settlement && "settle" in settlement ? settlement.receipt : undefined;
    return { ...claimed, ...claimDetails(claimed), state, receipt };
  }

  /** The same for the key whose receipt is the scheduled email with this id. */
  async readScheduled(file: FileHandle, id: string): Promise<Stored | undefined> {
    const claimAt = this.#scheduled.get(id);
    if (claimAt === undefined) return undefined;
    const kept = await this.read(file, (await claimAtLine(file, claimAt)).key);
    return kept && scheduledIdOf(kept.operation, kept.receipt) === id ? kept : undefined;
  }

  /**
   * Opens the file, reads the new lines, and runs the work.
   *
   * @returns undefined if there is no file and none is to be created.
   * @throws Error when the file was replaced, or is not a ledger.
   */
  async use<T>(
    work: (file: FileHandle) => Promise<T>,
    { create }: { create: boolean },
  ): Promise<T | undefined> {
    const isKnown = this.seen > 0;
    const file = await this.#open(create && !isKnown);
    if (file === undefined) return undefined;
    try {
      if (isKnown) await this.#recognise(file);
      // The name of a new file must be as durable as its content.
      else await syncDirectoryOf(await realpath(this.#path));
      await this.#readOn(file, undefined);
      if (!this.#isNamed) await this.#begin(file, create);
      return await work(file);
    } catch (error) {
      throw await located(file, error);
    } finally {
      await file.close();
    }
  }

  /**
   * Appends a record and reads on, to the end of the file.
   *
   * @returns whether it took effect; it did not if another process was first.
   * @throws Error when the record is not in the file afterwards.
   */
  async append(file: FileHandle, record: JournalRecord): Promise<boolean> {
    const line = Buffer.from(lineOf(record));
    // One write: lines of several processes are then never mixed.
    const { bytesWritten } = await file.write(line);
    if (bytesWritten < line.length) throw new Error("the disk is full");
    await file.sync();
    const effect = await this.#readOn(file, record);
    const [here, there] = await Promise.all([
      file.stat({ bigint: true }),
      stat(this.#path, { bigint: true }),
    ]);
    if (effect === undefined || here.ino !== there.ino || here.dev !== there.dev)
      throw new Error("another file was put in its place while it was written");
    return effect;
  }

  async #open(create: boolean): Promise<FileHandle | undefined> {
    try {
      return await open(this.#path, O_RDWR | O_APPEND | (create ? O_CREAT : 0), 0o600);
    } catch (error) {
      if (!isMissingFile(error) || create) throw error;
      if (this.seen > 0) throw new Error("it was there and is gone", { cause: error });
      return undefined;
    }
  }

  /** @throws Error when what was read is not in the file any more. */
  async #recognise(file: FileHandle): Promise<void> {
    const { size } = await file.stat();
    if (size < this.seen) throw new Error(`it was cut: ${this.seen} bytes were read, ${size} are left`);
    const at = this.seen - this.#tail.length;
    const tail = await fill(file, Buffer.alloc(this.#tail.length), at);
    if (!tail.equals(this.#tail)) throw new Damage(at, "is another than was read there before");
  }

  async #begin(file: FileHandle, create: boolean): Promise<void> {
    const beginning = (await fill(file, Buffer.alloc(1), 0)).toString();
    // Every record starts on a new line, and a power cut may have left zeros.
    if (!["", "\n", "\0"].includes(beginning)) throw new Damage(0, "is not what a ledger writes");
    if (!create) return;
    // If another program created an empty file, its permissions stay as they are.
    await file.chmod(0o600).catch(() => undefined);
    await this.append(file, { touchpointLedger: 1, id: crypto.randomUUID() });
  }

  /** Reads to the end. Returns whether the given record took effect; undefined if it was not among the lines. */
  async #readOn(file: FileHandle, own: JournalRecord | undefined): Promise<boolean | undefined> {
    let effect: boolean | undefined;
    const { size } = await file.stat();
    for (let length = stretch, isEnd = false; !isEnd; ) {
      const { at } = this.#point;
      const bytes = await fill(file, Buffer.alloc(Math.min(length, Math.max(0, size - at))), at);
      isEnd = at + bytes.length >= size;
      if (!isEnd && bytes.length < length) throw new Error("it became shorter while it was read");
      const { lines, to } = readLines(bytes, this.#point, isEnd);
      const [first] = lines;
      if (!this.#isNamed && first !== undefined && !("touchpointLedger" in first.record))
        throw new Damage(first.at, "is where the first line of a ledger should be");
      this.#point = to;
      const read = bytes.subarray(Math.max(0, to.at - at - bytesOfTail), to.at - at);
      this.#tail = Buffer.concat([this.#tail, read]).subarray(-bytesOfTail);
      for (const line of lines) {
        const isEffective = this.#apply(line);
        if (own !== undefined && idOf(own) === idOf(line.record)) effect ??= isEffective;
      }
      // A line that is longer than one read.
      length = to.at === at ? 2 * length : stretch;
    }
    return effect;
  }

  #apply({ at, record }: JournalLine): boolean {
    if ("touchpointLedger" in record) {
      // Two processes that create the file at the same time both write a first line.
      this.#isNamed = true;
      return true;
    }
    return "settle" in record ? this.#settle(record, at) : this.#claim(record, at);
  }

  #claim({ key, claim }: ClaimRecord, at: number): boolean {
    const place = this.#index.get(key);
    if (place !== undefined && place.state !== "free") return false;
    this.#index.set(key, { state: "pending", claimAt: at, receiptAt: 0, claim });
    return true;
  }

  #settle(record: SettleRecord, at: number): boolean {
    const place = this.#index.get(record.key);
    if (place === undefined || place.claim !== record.claim) return false;
    const state = settled(place.state, record);
    if (state === undefined) return false;
    const receiptAt = record.receipt === undefined ? place.receiptAt : at;
    this.#index.set(record.key, { ...place, state, receiptAt });
    const id = scheduledIdOf(record.operation, record.receipt);
    if (id !== undefined) this.#scheduled.set(id, place.claimAt);
    return true;
  }
}

const idOf = (record: JournalRecord): string => {
  if ("touchpointLedger" in record) return record.id;
  return "settle" in record ? record.settle : record.claim;
};
