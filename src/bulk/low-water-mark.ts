/**
 * How much of a sequence is settled without a gap, while its items settle in any order.
 *
 * Stores only what is beyond the first gap, so its size is limited by the work in progress.
 */
export class LowWaterMark {
  #mark: number;
  readonly #beyond = new Set<number>();

  constructor(start = 0) {
    this.#mark = start;
  }

  /** Every item below this index is settled. */
  get mark(): number {
    return this.#mark;
  }

  /** Settles one item, and returns the new mark. */
  settle(index: number): number {
    if (index >= this.#mark) this.#beyond.add(index);
    while (this.#beyond.delete(this.#mark)) this.#mark += 1;
    return this.#mark;
  }
}
