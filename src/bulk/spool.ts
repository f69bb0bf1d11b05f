import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// The file was deleted while it was open. Closing its descriptor frees its space.
const collected = new FinalizationRegistry<number>((descriptor) => closeSync(descriptor));

const openNameless = (): number => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-"));
  try {
    return openSync(join(folder, "spool"), "wx+", 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const maxInMemory = 1024 * 1024;

/**
 * Stores any number of values as JSON: about the newest MiB in memory, and older values in a temporary file without a
 * name.
 */
export class Spool<T> implements Iterable<T> {
  /** The offset of each value in the file, and at the end the offset for the next value. */
  readonly #starts = [0];
  /** The number of bytes in the file. */
  #written = 0;
  /** The newest values, which are not in the file yet. */
  #waiting: Buffer[] = [];
  #descriptor: number | undefined;

  get length(): number {
    return this.#starts.length - 1;
  }

  add(value: T): void {
    const bytes = Buffer.from(JSON.stringify(value));
    const end = Number(this.#starts.at(-1)) + bytes.length;
    this.#starts.push(end);
    this.#waiting.push(bytes);
    if (end - this.#written > maxInMemory) this.#write();
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let number = 0; number < this.length; number += 1)
      yield JSON.parse(this.#bytesOf(number).toString());
  }

  #bytesOf(number: number): Buffer {
    const waiting = this.#waiting[number - (this.length - this.#waiting.length)];
    if (waiting !== undefined) return waiting;
    const [start = 0, end = start] = this.#starts.slice(number, number + 2);
    const bytes = Buffer.alloc(end - start);
    if (this.#descriptor !== undefined) readSync(this.#descriptor, bytes, 0, bytes.length, start);
    return bytes;
  }

  #write(): void {
    if (this.#descriptor === undefined) {
      this.#descriptor = openNameless();
      collected.register(this, this.#descriptor);
    }
    // writeFileSync writes all bytes, and continues at the descriptor's current position: the end of the file.
    writeFileSync(this.#descriptor, Buffer.concat(this.#waiting));
    this.#written = Number(this.#starts.at(-1));
    this.#waiting = [];
  }
}
