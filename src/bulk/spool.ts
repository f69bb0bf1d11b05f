import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
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

/** Texts of any length: the newest MiB in memory, the others in a file without a name. */
export class Spool {
  /** Where each text begins in the file, and where the next one will. */
  readonly #starts = [0];
  /** The texts that are not in the file yet. */
  #waiting: Buffer[] = [];
  #descriptor: number | undefined;

  get length(): number {
    return this.#starts.length - 1;
  }

  /** Adds a text; returns its number. */
  add(text: string): number {
    const bytes = Buffer.from(text);
    this.#starts.push(this.#startOf(this.length) + bytes.length);
    this.#waiting.push(bytes);
    const written = this.#startOf(this.length - this.#waiting.length);
    if (this.#startOf(this.length) - written > mostInMemory) this.#write(written);
    return this.length - 1;
  }

  read(number: number): string {
    const waiting = this.#waiting[number - (this.length - this.#waiting.length)];
    if (waiting !== undefined) return waiting.toString();
    const start = this.#startOf(number);
    const bytes = Buffer.alloc(this.#startOf(number + 1) - start);
    if (this.#descriptor !== undefined) readSync(this.#descriptor, bytes, 0, bytes.length, start);
    return bytes.toString();
  }

  #startOf(number: number): number {
    return this.#starts[number] ?? 0;
  }

  #write(place: number): void {
    if (this.#descriptor === undefined) {
      this.#descriptor = openNameless();
      forgotten.register(this, this.#descriptor);
    }
    const bytes = Buffer.concat(this.#waiting.splice(0));
    for (let at = 0; at < bytes.length; )
      at += writeSync(this.#descriptor, bytes, at, bytes.length - at, place + at);
  }
}
