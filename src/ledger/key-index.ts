import { hash } from "node:crypto";
import type { KeyState } from "./rules.ts";

/** Where the file describes a key. Offsets are of lines, in bytes. */
export interface Place {
  readonly state: KeyState;
  /** The line of the key's claim. */
  readonly claimAt: number;
  /** The line with its receipt; 0 if there is none, because the first line is never a receipt. */
  readonly receiptAt: number;
  /** Identifies the claim, which is random: 53 bits of it. */
  readonly claim: number;
}

const states: readonly KeyState[] = ["free", "pending", "unknown", "sent"];
const words = new Uint32Array(4);

const readWords = (key: string): void => {
  const digest = hash("sha256", key);
  for (let at = 0; at < 4; at += 1) words[at] = Number.parseInt(digest.slice(8 * at, 8 * at + 8), 16);
};

/** A short form of a claim, for comparing. */
export const claimNumber = (claim: string): number => {
  let high = 0x811c9dc5;
  let low = 0x2545f491;
  for (let at = 0; at < claim.length; at += 1) {
    const code = claim.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ (code + high), 0x5bd1e995);
  }
  return (high >>> 0) * 0x200000 + (low >>> 11);
};

/** An open-addressing table of positions, small enough that growing it does not block for long. */
class Shard {
  #size = 0;
  /** One more than the position's number; 0 for none. */
  #slots = new Uint32Array(16);
  #hashes = new Uint32Array(32);
  #numbers = new Float64Array(24);
  #states = new Uint8Array(8);

  /** The slot of the key whose hash is in `words`, or the slot where it would be stored. */
  #slotOf(hashes: Uint32Array, offset: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = (hashes[offset + 1] ?? 0) & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] ?? 0) - 1;
      if (place === -1) return slot;
      let at = 0;
      while (at < 4 && this.#hashes[4 * place + at] === hashes[offset + at]) at += 1;
      if (at === 4) return slot;
    }
  }

  get(): Place | undefined {
    const at = (this.#slots[this.#slotOf(words, 0)] ?? 0) - 1;
    const state = states[this.#states[at] ?? 0];
    if (at === -1 || state === undefined) return undefined;
    const [claimAt = 0, receiptAt = 0, claim = 0] = this.#numbers.subarray(3 * at, 3 * at + 3);
    return { state, claimAt, receiptAt, claim };
  }

  set({ state, claimAt, receiptAt, claim }: Place): void {
    if (this.#size === this.#states.length) this.#grow();
    const slot = this.#slotOf(words, 0);
    if (this.#slots[slot] === 0) {
      this.#size += 1;
      this.#slots[slot] = this.#size;
      this.#hashes.set(words, 4 * (this.#size - 1));
    }
    const at = (this.#slots[slot] ?? 0) - 1;
    this.#numbers.set([claimAt, receiptAt, claim], 3 * at);
    this.#states[at] = states.indexOf(state);
  }

  #grow(): void {
    const room = 2 * this.#size;
    const [hashes, numbers, kept] = [this.#hashes, this.#numbers, this.#states];
    this.#hashes = new Uint32Array(4 * room);
    this.#hashes.set(hashes);
    this.#numbers = new Float64Array(3 * room);
    this.#numbers.set(numbers);
    this.#states = new Uint8Array(room);
    this.#states.set(kept);
    this.#slots = new Uint32Array(2 * room);
    for (let place = 0; place < this.#size; place += 1)
      this.#slots[this.#slotOf(this.#hashes, 4 * place)] = place + 1;
  }
}

/**
 * Finds what a ledger's file says about a key, in about 60 bytes per key: the key's hash (128 bits of SHA-256) and
 * offsets, no text.
 */
export class KeyIndex {
  readonly #shards: Shard[] = Array.from({ length: 256 }, () => new Shard());

  get(key: string): Place | undefined {
    return this.#shardOf(key).get();
  }

  set(key: string, place: Place): void {
    this.#shardOf(key).set(place);
  }

  #shardOf(key: string): Shard {
    readWords(key);
    // One of 256, for every first byte.
    return this.#shards[(words[0] ?? 0) & 255] as Shard;
  }
}
