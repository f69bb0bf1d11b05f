/**
 * Where to look once a page holds no known record: a page back, a page forward, two back, two forward, until both
 * ends of the list are reached. Deletions are found backwards, and insertions forwards, in few requests.
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
  /** A known record has been met; now the last one of those that follow each other is looked for. */
  isNear = false;

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

  /** Goes on behind a known record. */
  follow(place: number): void {
    this.isNear = true;
    this.at = place;
  }

  /** Moves on; false when both ends have been reached. */
  next(): boolean {
    const hasBack = this.#back > 0;
    const hasForward = this.#forward + this.#size < this.#end;
    if (!hasBack && !hasForward) return false;
    if (hasBack && (this.#isBack || !hasForward)) this.at = this.#back = Math.max(0, this.#back - this.#size);
    else this.at = this.#forward += this.#size;
    this.#isBack = !this.#isBack;
    return true;
  }
}
