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

const segmentBytes = 1024 * 1024;

/** Small pieces of bytes: in memory, and beyond `mostInMemory` in a file without a name. */
export class Spool {
  readonly #mostSegments: number;
  /** Undefined: it is in the file. */
  readonly #segments: (Buffer | undefined)[] = [];
  #used = segmentBytes;
  #firstInMemory = 0;
  #descriptor: number | undefined;

  constructor(mostInMemory: number) {
    this.#mostSegments = Math.max(1, Math.floor(mostInMemory / segmentBytes));
  }

  /** Adds a piece of at most 1 MiB; returns its position. */
  add(bytes: Buffer): number {
    if (this.#used + bytes.length > segmentBytes) this.#begin();
    const last = this.#segments.length - 1;
    const at = last * segmentBytes + this.#used;
    bytes.copy(this.#segments[last] ?? Buffer.alloc(0), this.#used);
    this.#used += bytes.length;
    return at;
  }

  read(at: number, length: number): Buffer {
    const offset = at % segmentBytes;
    const segment = this.#segments[Math.floor(at / segmentBytes)];
    if (segment !== undefined) return segment.subarray(offset, offset + length);
    const bytes = Buffer.alloc(length);
    if (this.#descriptor !== undefined) readSync(this.#descriptor, bytes, 0, length, at);
    return bytes;
  }

  #begin(): void {
    if (this.#segments.length - this.#firstInMemory >= this.#mostSegments) this.#spoolFirst();
    this.#segments.push(Buffer.alloc(segmentBytes));
    this.#used = 0;
  }

  #spoolFirst(): void {
    if (this.#descriptor === undefined) {
      this.#descriptor = openNameless();
      forgotten.register(this, this.#descriptor);
    }
    const segment = this.#segments[this.#firstInMemory];
    if (segment !== undefined)
      writeSync(this.#descriptor, segment, 0, segmentBytes, this.#firstInMemory * segmentBytes);
    this.#segments[this.#firstInMemory] = undefined;
    this.#firstInMemory += 1;
  }
}
