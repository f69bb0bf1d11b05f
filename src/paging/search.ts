/**
 * Where to look once a page holds no known record: half a page back, then a page further back, a page forward, and so
 * on until both ends of the list are reached. Deletions are found backwards, and insertions forwards, in few requests.
 */
export class Search {
  /** Where the place was lost. */
  readonly from: number;
  readonly #size: number;
  #back: number;
  #forward: number;
  #end = Number.POSITIVE_INFINITY;
  #isBack = true;
  /** The place to look at now. */
  at: number;
  /** How many were yielded after the latest known record met; infinite until one is. */
  age = Number.POSITIVE_INFINITY;

  constructor(from: number, size: number) {
    this.from = from;
    this.#size = size;
    this.#back = from;
    // Forward begins with the page that was looked at first: records may have moved into it since.
    this.#forward = from - size;
    this.at = from;
  }

  /** No record stands at this place or behind it. */
  endsAt(place: number): void {
    this.#end = Math.min(this.#end, place);
  }

  /** A known record has been met; now the last one of those that follow each other is looked for. */
  get isNear(): boolean {
    return this.age < Number.POSITIVE_INFINITY;
  }

  /** Moves on; false when both ends have been reached. */
  next(): boolean {
    const hasBack = this.#back > 0;
    const hasForward = this.#forward + this.#size < this.#end;
    if (!hasBack && !hasForward) return false;
    if (hasBack && this.#back === this.from) {
      // Most often the list has moved by a few records: this page shows them, and half a page of new ones.
      this.at = this.#back = Math.max(0, this.from - Math.ceil(this.#size / 2));
      return true;
    }
    if (hasBack && (this.#isBack || !hasForward)) this.at = this.#back = Math.max(0, this.#back - this.#size);
    else this.at = this.#forward += this.#size;
    this.#isBack = !this.#isBack;
    return true;
  }
}
