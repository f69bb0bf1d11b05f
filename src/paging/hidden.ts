import type { ApiError } from "../errors.ts";
import type { PageRequest } from "./ahead.ts";
import { type ServedPage, totalOf } from "./page-size.ts";

/** How many contradictions prove that the service hides records. Fewer can be chance, because the list moves. */
const enoughContradictions = 10;

/** Records that the service has and does not return. */
export interface Hidden {
  /** The service's error for their positions; undefined if it returns empty pages there. */
  readonly refusal: ApiError | undefined;
  readonly total: number;
}

/**
 * Recognizes a service that contradicts itself: it returns nothing at a position, and directly afterwards a page with
 * an earlier start shows a record at that position. The reason may be that the service limits `skip`. Without this
 * check, the search would go through the list again and again.
 */
export class HiddenRecords {
  /** The lowest position without records since the last page with records. */
  #empty: { readonly skip: number; readonly refusal: ApiError | undefined } | undefined;
  #contradictions = 0;

  /** Notes a page. Returns the hidden records once the service has contradicted itself too often. */
  in({ skip }: PageRequest, page: ServedPage<unknown>): Hidden | undefined {
    const { data, refusal } = page;
    const total = totalOf(page);
    const empty = this.#empty;
    if (refusal !== undefined || (data.length === 0 && Number(total) > skip)) {
      // The search goes back in steps. Remember the lowest position, because the list may end before the others.
      this.#empty = { skip: Math.min(skip, empty?.skip ?? skip), refusal };
      return undefined;
    }
    this.#empty = undefined;
    // Compare with the records and not with the total, which may be too large.
    const reached = skip + data.length;
    if (empty === undefined || reached <= empty.skip) return undefined;
    this.#contradictions += 1;
    const isEnough = this.#contradictions >= enoughContradictions;
    return isEnough ? { refusal: empty.refusal, total: total ?? reached } : undefined;
  }

  /** Called when a page has new records. */
  reset(): void {
    this.#contradictions = 0;
  }
}
