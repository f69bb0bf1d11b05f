const chunkBytes = 1024 * 1024;
const headBytes = 8;
const minEntries = 1024;

/** The 32-bit FNV-1a hash of the first `length` bytes of a buffer. */
const hashOf = (bytes: Buffer, length: number): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < length; index += 1) hash = Math.imul(hash ^ (bytes[index] ?? 0), 0x01000193);
  return hash >>> 0;
};

/**
 * A map from strings to bytes for a million entries, outside of the V8 heap. A `Map` with as many entries takes three
 * times the memory, or up to six times while the garbage collector lets the heap grow.
 *
 * Chunks of memory contain the entries: the length of the key, the length of the value, the key, the value. A hash
 * table contains the positions of the entries, and is at most half full. After `set` with a value of another length,
 * the old bytes stay unused.
 */
export class PackedMap {
  /**
   * Positions of entries plus 1, by hash; 0 for an empty slot. A position is the chunk index times 1 MiB plus an
   * offset.
   */
  #table = new Float64Array(2 * minEntries);
  readonly #chunks: Buffer[] = [];
  /** The number of used bytes in the last chunk. */
  #used = chunkBytes;
  #key = Buffer.alloc(256);
  size = 0;

  get(key: string): Buffer | undefined {
    const position = this.#table[this.#slotOf(this.#write(key))] ?? 0;
    return position === 0 ? undefined : this.#valueAt(position - 1);
  }

  set(key: string, value: Uint8Array): void {
    const length = this.#write(key);
    const slot = this.#slotOf(length);
    const position = this.#table[slot] ?? 0;
    const old = position === 0 ? undefined : this.#valueAt(position - 1);
    if (old !== undefined && old.length === value.length) {
      old.set(value);
      return;
    }
    this.#table[slot] = this.#append(length, value) + 1;
    if (position !== 0) return;
    this.size += 1;
    if (this.size * 2 > this.#table.length) this.#grow();
  }

  /** Yields the keys with their values, in no particular order. */
  *entries(): Generator<readonly [key: string, value: Buffer]> {
    for (const position of this.#table)
      if (position !== 0) yield [this.#keyAt(position - 1).toString(), this.#valueAt(position - 1)];
  }

  /** Writes a key to the buffer `#key`. Returns its length in bytes. */
  #write(key: string): number {
    // A UTF-16 code unit takes at most three bytes in UTF-8.
    if (key.length * 3 > this.#key.length) this.#key = Buffer.alloc(key.length * 3);
    return this.#key.write(key);
  }

  /** The slot of the key in `#key`, or the empty slot for a new entry with that key. */
  #slotOf(length: number): number {
    const mask = this.#table.length - 1;
    let slot = hashOf(this.#key, length) & mask;
    for (;;) {
      const position = this.#table[slot] ?? 0;
      if (position === 0) return slot;
      const key = this.#keyAt(position - 1);
      if (key.length === length && this.#key.compare(key, 0, length, 0, length) === 0) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #grow(): void {
    const positions = this.#table;
    this.#table = new Float64Array(positions.length * 2);
    const mask = this.#table.length - 1;
    for (const position of positions) {
      if (position === 0) continue;
      const key = this.#keyAt(position - 1);
      let slot = hashOf(key, key.length) & mask;
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
      this.#table[slot] = position;
    }
  }

  #append(keyLength: number, value: Uint8Array): number {
    const bytes = headBytes + keyLength + value.length;
    if (this.#used + bytes > chunkBytes) {
      // An entry that is longer than a chunk gets its own chunk.
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(chunkBytes, bytes)));
      this.#used = 0;
    }
    const [index, offset] = [this.#chunks.length - 1, this.#used];
    const chunk = this.#chunks[index];
    if (chunk === undefined) throw new RangeError("there is no chunk");
    chunk.writeUInt32LE(keyLength, offset);
    chunk.writeUInt32LE(value.length, offset + 4);
    this.#key.copy(chunk, offset + headBytes, 0, keyLength);
    chunk.set(value, offset + headBytes + keyLength);
    this.#used += bytes;
    return index * chunkBytes + offset;
  }

  #locate(position: number): readonly [chunk: Buffer, offset: number] {
    const chunk = this.#chunks[Math.floor(position / chunkBytes)];
    if (chunk === undefined) throw new RangeError("there is no such entry");
    return [chunk, position % chunkBytes];
  }

  #keyAt(position: number): Buffer {
    const [chunk, offset] = this.#locate(position);
    return chunk.subarray(offset + headBytes, offset + headBytes + chunk.readUInt32LE(offset));
  }

  #valueAt(position: number): Buffer {
    const [chunk, offset] = this.#locate(position);
    const start = offset + headBytes + chunk.readUInt32LE(offset);
    return chunk.subarray(start, start + chunk.readUInt32LE(offset + 4));
  }
}
