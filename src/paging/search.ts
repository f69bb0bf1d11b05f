/**
 * The positions to search after a page without a known record: half a page back, a page further back, a page forward,
 * and so on until both ends of the list. After deletions, the records are further back; after insertions, further
 * forward.
 */
export class Search {
  /** The position at which the walk lost track. */
  readonly from: number;
  readonly #size: number;
  #back: number;
  #forward: number;
  #end = Number.POSITIVE_INFINITY;
  #isBack = true;
  /** The position to search now. */
  position: number;

  constructor(from: number, size: number) {
    this.from = from;
    this.#size = size;
    this.#back = from;
    // The first step forward searches `from` again, because records may have moved there since.
    this.#forward = from - size;
    this.position = from;
  }

  /** Notes that no record is at this position or after it. */
  endsAt(position: number): void {
    this.#end = Math.min(this.#end, position);
  }

  /** Moves to the next position; false if both ends have been reached. */
  next(): boolean {
    const hasBack = this.#back > 0;
    const hasForward = this.#forward + this.#size < this.#end;
    if (!hasBack && !hasForward) return false;
    if (hasBack && this.#back === this.from) {
      // Usually, the list has moved by a few records. This page shows known records, and half a page of new ones.
      this.position = this.#back = Math.max(0, this.from - Math.ceil(this.#size / 2));
      return true;
    }
    if (hasBack && (this.#isBack || !hasForward))
      this.position = this.#back = Math.max(0, this.#back - this.#size);
    else this.position = this.#forward += this.#size;
    this.#isBack = !this.#isBack;
    return true;
  }
}
