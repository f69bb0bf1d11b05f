import { largestLimit } from "./page-size.ts";

/** Records that a page shares with the one before, to see whether the list has moved. */
const leastShared = 2;
/** Half of the largest page: with more, a page would bring less than it repeats. */
const mostShared = largestLimit / 2;
/** How much of the largest shift is still expected one page later: after twenty quiet pages, next to nothing. */
const keptPerPage = 7 / 8;

/**
 * How fast the list moves towards its beginning, because records before the walk are deleted. Pages share twice as
 * many records with the one before, so that a list that goes on moving like that does not slip out of sight.
 */
export class Drift {
  /** The largest shift between two requests; it fades. */
  #largest = 0;
  #missed = 0;
  /** Pages since the last that did not join, and with it the pages worth asking for ahead. */
  pagesAhead = Number.POSITIVE_INFINITY;

  /** How many records the next page should share with the last. */
  get shared(): number {
    return Math.min(mostShared, Math.floor(leastShared + 2 * this.#largest));
  }

  /** With how many a page that has been asked for is still likely to join. */
  get enough(): number {
    return Math.min(this.shared, Math.ceil(this.#largest) + 1);
  }

  /** A page joined the ones before, which had moved back by `shift` records since the last that did. */
  joined(shift: number): void {
    const perRequest = Math.max(0, shift) / (this.#missed + 1);
    this.#largest = Math.min(mostShared / 2, Math.max(perRequest, this.#largest * keptPerPage));
    this.#missed = 0;
    this.pagesAhead += 1;
  }

  /** A page did not join, although it was to share `shared` records. */
  missed(shared: number): void {
    this.#largest = Math.min(mostShared / 2, Math.max(this.#largest, shared));
    this.#missed += 1;
    this.pagesAhead = 0;
  }
}
