import { largestLimit } from "./page-size.ts";

/** The minimum number of records that a page shares with the previous one, to detect whether the list has moved. */
const minShared = 2;
/** Half of the largest page. With more, a page would contain more repeated records than new ones. */
const maxShared = largestLimit / 2;
/** The factor by which the expected shift decays per page. After twenty quiet pages, almost nothing remains. */
const decayPerPage = 7 / 8;

/**
 * Measures how fast records move towards the beginning of the list because earlier records are deleted. Pages share
 * twice as many records as the list moved, so that the export keeps its position if the list continues to move.
 */
export class Drift {
  /** The largest shift between two requests. It decays with each page. */
  #largest = 0;
  /** The number of pages that did not join since the last one that did. */
  #misses = 0;
  /** The maximum of pages to request ahead: how many pages have joined since one did not join; infinite at first. */
  pagesAhead = Number.POSITIVE_INFINITY;

  /** The number of records that the next page should share with the last one. */
  get shared(): number {
    return Math.min(maxShared, Math.floor(minShared + 2 * this.#largest));
  }

  /** The number of shared records with which an already requested page is still likely to join. */
  get enough(): number {
    return Math.min(this.shared, Math.ceil(this.#largest) + 1);
  }

  /** Notes that a page joined the previous ones, which had moved back by `shift` records since the last join. */
  joined(shift: number): void {
    const perRequest = Math.max(0, shift) / (this.#misses + 1);
    this.#largest = Math.min(maxShared / 2, Math.max(perRequest, this.#largest * decayPerPage));
    this.#misses = 0;
    this.pagesAhead += 1;
  }

  /** Notes that a page did not join, although `shared` of its records should be known. */
  missed(shared: number): void {
    this.#largest = Math.min(maxShared / 2, Math.max(this.#largest, shared));
    this.#misses += 1;
    this.pagesAhead = 0;
  }
}
