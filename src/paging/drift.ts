import { largestLimit } from "./page-size.ts";

/** The records that a page shares with the previous one, to detect whether the list has moved. */
const leastShared = 2;
/** Half of the largest page: with more, a page would bring fewer new records than repeated ones. */
const mostShared = largestLimit / 2;
/** How much of the largest shift is expected one page later: almost nothing after twenty quiet pages. */
const keptPerPage = 7 / 8;

/**
 * How fast the list moves towards its beginning, because earlier records are deleted. Pages share twice as many records
 * as the list moved, so that the export keeps its position if the list goes on moving.
 */
export class Drift {
  /** The largest shift between two requests; it decays. */
  #largest = 0;
  #missed = 0;
  /** Pages since the last one that did not join; also the number of pages worth requesting ahead. */
  pagesAhead = Number.POSITIVE_INFINITY;

  /** How many records the next page should share with the last one. */
  get shared(): number {
    return Math.min(mostShared, Math.floor(leastShared + 2 * this.#largest));
  }

  /** With how many shared records a requested page is still likely to join. */
  get enough(): number {
    return Math.min(this.shared, Math.ceil(this.#largest) + 1);
  }

  /** A page joined the previous ones. Since the last join, they had moved back by `shift` records. */
  joined(shift: number): void {
    const perRequest = Math.max(0, shift) / (this.#missed + 1);
    this.#largest = Math.min(mostShared / 2, Math.max(perRequest, this.#largest * keptPerPage));
    this.#missed = 0;
    this.pagesAhead += 1;
  }

  /** A page did not join, although it should share `shared` records. */
  missed(shared: number): void {
    this.#largest = Math.min(mostShared / 2, Math.max(this.#largest, shared));
    this.#missed += 1;
    this.pagesAhead = 0;
  }
}
