import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { syncDirectoryOf } from "../runtime/atomic-file.ts";
import { isMissingFile } from "../runtime/cross-realm.ts";
import { Journal } from "./journal.ts";
import { type JournalRecord, lineOf } from "./journal-record.ts";

/** The file that takes the place of the one a seal closes. It is there before the seal is. */
export const successorOf = (path: string, seal: string): string => `${path}.${seal}.tmp`;

// The id in the first line lies within these, so files that agree in them are one file.
const bytesOfIdentity = 160;

/** Reads and appends to a ledger's file, opened anew for each use; what was read already is not read again. */
export class JournalFile {
  readonly path: string;
  #journal = new Journal();
  #identity: Buffer = Buffer.alloc(0);
  #offset = 0;

  constructor(path: string) {
    this.path = path;
  }

  get journal(): Journal {
    return this.#journal;
  }

  /** Opens the file, brings the journal up to date and lifts a seal, then hands over. */
  async use<T>(work: (file: FileHandle) => Promise<T>): Promise<T> {
    for (;;) {
      const file = await open(this.path, "a+", 0o600);
      try {
        if (await this.#isCurrent(file)) return await work(file);
      } finally {
        await file.close();
      }
    }
  }

  /**
   * Appends a record and reads on, to the end of the file.
   *
   * @returns the ids that took effect since the last reading; an id that is not among them did not.
   */
  async append(file: FileHandle, record: JournalRecord): Promise<ReadonlySet<string>> {
    const line = Buffer.from(lineOf(record));
    // One write: whole lines of several processes come one after the other.
    const { bytesWritten } = await file.write(line);
    if (bytesWritten < line.length) throw new Error("the disk is full");
    await file.sync();
    return this.#read(file);
  }

  /** False when another file has taken the place of this one meanwhile. */
  async #isCurrent(file: FileHandle): Promise<boolean> {
    await this.#recognise(file);
    await this.#read(file);
    if (this.#journal.id === undefined) {
      await refuseStranger(file);
      await this.append(file, { touchpointLedger: 1, id: crypto.randomUUID() });
    }
    while (this.#journal.seal !== undefined) {
      if (!(await this.#lift(file, this.#journal.seal))) return false;
    }
    return true;
  }

  /** Starts over when the file is another than last time. */
  async #recognise(file: FileHandle): Promise<void> {
    const identity = Buffer.alloc(this.#identity.length);
    await file.read(identity, 0, identity.length, 0);
    if (this.#offset > 0 && identity.equals(this.#identity)) return;
    this.#journal = new Journal();
    this.#offset = 0;
    // The name of a new file must last as long as what it holds.
    await syncDirectoryOf(this.path);
  }

  async #read(file: FileHandle): Promise<ReadonlySet<string>> {
    const { size } = await file.stat();
    const fresh = Buffer.alloc(Math.max(0, size - this.#offset));
    let filled = 0;
    while (filled < fresh.length) {
      const { bytesRead } = await file.read(fresh, filled, fresh.length - filled, this.#offset + filled);
      if (bytesRead === 0) throw new Error("it became shorter while it was read");
      filled += bytesRead;
    }
    // A line without its end is still being written.
    const whole = fresh.subarray(0, fresh.lastIndexOf("\n") + 1);
    const isFirst = this.#offset === 0;
    const effective = this.#journal.read(whole.toString());
    if (isFirst) this.#identity = Buffer.from(whole.subarray(0, bytesOfIdentity));
    this.#offset += whole.length;
    return effective;
  }

  /**
   * Ends a seal whose maker may be dead. Taking its successor away and putting that in place exclude each other, and
   * a successor is never made a second time; so once it is gone, either this file was replaced or it never will be.
   */
  async #lift(file: FileHandle, seal: string): Promise<boolean> {
    await rm(successorOf(this.path, seal), { force: true });
    if (!(await this.#isStillAt(file))) return false;
    await this.append(file, { unseal: seal });
    return true;
  }

  async #isStillAt(file: FileHandle): Promise<boolean> {
    try {
      const [here, there] = await Promise.all([
        file.stat({ bigint: true }),
        stat(this.path, { bigint: true }),
      ]);
      return here.ino === there.ino && here.dev === there.dev;
    } catch (error) {
      if (isMissingFile(error)) return false;
      throw error;
    }
  }
}

/** Every record begins a line of its own, and a power cut may have left zeros: what begins otherwise is no ledger. */
const refuseStranger = async (file: FileHandle): Promise<void> => {
  const beginning = Buffer.alloc(1);
  await file.read(beginning, 0, 1, 0);
  if (!["\n", "\0"].includes(beginning.toString())) throw new Error("it holds something else than a ledger");
};
