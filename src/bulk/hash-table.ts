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

/** Numbers by the hash of a text, in 16 bytes per slot and without an object for each. */
export class HashTable {
  #size = 0;
  #keys: Uint32Array;
  // One more than the number, so that 0 is an empty slot.
  #values: Float64Array;

  /** @param expected - how many texts fit without a copy of the table, which would need half of its memory again. */
  constructor(expected = 0) {
    let slots = 1024;
    while (fullest * slots <= expected) slots *= 2;
    this.#keys = new Uint32Array(2 * slots);
    this.#values = new Float64Array(slots);
  }

  get size(): number {
    return this.#size;
  }

  get(text: string): number | undefined {
    const slot = this.#slotOf(...hashOf(text));
    const value = this.#values[slot] ?? 0;
    return value === 0 ? undefined : value - 1;
  }

  set(text: string, value: number): void {
    if (this.#size >= fullest * this.#values.length) this.#grow();
    this.#put(hashOf(text), value + 1);
  }

  #put([high, low]: Hash64, stored: number): void {
    const slot = this.#slotOf(high, low);
    if (this.#values[slot] === 0) this.#size += 1;
    this.#keys[2 * slot] = high;
    this.#keys[2 * slot + 1] = low;
    this.#values[slot] = stored;
  }

  /** Where the hash is, or would be. */
  #slotOf(high: number, low: number): number {
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
    this.#size = 0;
    for (const [slot, stored] of values.entries())
      if (stored !== 0) this.#put([keys[2 * slot] ?? 0, keys[2 * slot + 1] ?? 0], stored);
  }
}
