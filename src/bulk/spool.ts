import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// The file has no name any more; its space is freed with its descriptor.
const forgotten = new FinalizationRegistry<number>((descriptor) => closeSync(descriptor));

const openNameless = (): number => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-"));
  try {
    return openSync(join(folder, "spool"), "wx+", 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const mostInMemory = 1024 * 1024;

/** Any number of values, as JSON: the newest MiB in memory, the others in a file without a name. */
export class Spool<T> implements Iterable<T> {
  /** Where each value begins, and where the next one will. */
  readonly #starts = [0];
  /** The bytes in the file, and the values that are not in it yet. */
  #written = 0;
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
    if (end - this.#written > mostInMemory) this.#write();
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
      forgotten.register(this, this.#descriptor);
    }
    // writeFileSync writes all of it, at the end of what it has written.
    writeFileSync(this.#descriptor, Buffer.concat(this.#waiting));
    this.#written = Number(this.#starts.at(-1));
    this.#waiting = [];
  }
}
