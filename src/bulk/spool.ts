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
const lengthBytes = 4;

/** Texts of any length: the newest MiB in memory, the others in a file without a name. */
export class Spool {
  #waiting = Buffer.alloc(0);
  #used = 0;
  /** Where the waiting texts begin. */
  #written = 0;
  #descriptor: number | undefined;

  /** Adds a text; returns its place. */
  add(text: string): number {
    const length = lengthBytes + Buffer.byteLength(text);
    if (this.#used + length > this.#waiting.length) this.#makeRoom(length);
    const place = this.#written + this.#used;
    this.#waiting.writeUInt32LE(length - lengthBytes, this.#used);
    this.#waiting.write(text, this.#used + lengthBytes);
    this.#used += length;
    return place;
  }

  read(place: number): string {
    const length = this.#bytes(place, lengthBytes).readUInt32LE(0);
    return this.#bytes(place + lengthBytes, length).toString("utf8");
  }

  #bytes(place: number, length: number): Buffer {
    if (place >= this.#written) return this.#waiting.subarray(place - this.#written).subarray(0, length);
    const bytes = Buffer.alloc(length);
    if (this.#descriptor !== undefined) readSync(this.#descriptor, bytes, 0, length, place);
    return bytes;
  }

  #makeRoom(length: number): void {
    if (this.#used > 0) {
      if (this.#descriptor === undefined) {
        this.#descriptor = openNameless();
        forgotten.register(this, this.#descriptor);
      }
      for (let at = 0; at < this.#used; )
        at += writeSync(this.#descriptor, this.#waiting, at, this.#used - at, this.#written + at);
    }
    this.#written += this.#used;
    this.#used = 0;
    if (this.#waiting.length < Math.max(length, mostInMemory))
      this.#waiting = Buffer.alloc(Math.max(length, mostInMemory));
  }
}
