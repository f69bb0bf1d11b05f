/** Two independent halves of a hash of 64 bits. */
export type Hash64 = readonly [high: number, low: number];

/** A hash of a text: fast, and the same on every machine. It compares values; it is not for secrets. */
export const hashOf = (text: string): Hash64 => {
  // cyrb: two lanes of multiply and xor, mixed at the end.
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return [a >>> 0, b >>> 0];
};

const fullest = 0.7;

/** One part of a table, which doubles on its own. */
class Part {
  size = 0;
  #keys = new Uint32Array(2 * 64);
  // One more than the number, so that 0 is an empty slot.
  #values = new Float64Array(64);

  get(hash: Hash64): number | undefined {
    const value = this.#values[this.#slotOf(hash)] ?? 0;
    return value === 0 ? undefined : value - 1;
  }

  set(hash: Hash64, value: number): void {
    if (this.size >= fullest * this.#values.length) this.#grow();
    this.#put(hash, value + 1);
  }

  #put(hash: Hash64, stored: number): void {
    const slot = this.#slotOf(hash);
    if (this.#values[slot] === 0) this.size += 1;
    this.#keys.set(hash, 2 * slot);
    this.#values[slot] = stored;
  }

  /** Where the hash is, or would be. */
  #slotOf([high, low]: Hash64): number {
    const mask = this.#values.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      if (this.#values[slot] === 0) return slot;
      if (this.#keys[2 * slot] === high && this.#keys[2 * slot + 1] === low) return slot;
    }
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Uint32Array(2 * keys.length);
    this.#values = new Float64Array(2 * values.length);
    this.size = 0;
    for (const [slot, stored] of values.entries())
      if (stored !== 0) this.#put([keys[2 * slot] ?? 0, keys[2 * slot + 1] ?? 0], stored);
  }
}

/**
 * Numbers by the hash of a text, in 16 bytes per slot and without an object for each.
 *
 * It grows in parts: old and new slots of the whole would need half of its memory again.
 */
export class HashTable {
  readonly #parts = Array.from({ length: 16 }, () => new Part());

  get size(): number {
    return this.#parts.reduce((sum, { size }) => sum + size, 0);
  }

  get(text: string): number | undefined {
    const hash = hashOf(text);
    return this.#partOf(hash)?.get(hash);
  }

  set(text: string, value: number): void {
    const hash = hashOf(text);
    this.#partOf(hash)?.set(hash, value);
  }

  #partOf([high]: Hash64): Part | undefined {
    return this.#parts[high >>> 28];
  }
}
