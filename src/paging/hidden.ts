import type { ApiError } from "../errors.ts";
import type { PageRequest } from "./ahead.ts";
import { type ServedPage, totalOf } from "./page-size.ts";

/** How many times the service may hide records that it shows on an earlier page. A few times can be chance: the list moves. */
const maxContradictions = 10;

/** Records that the service has and does not return. */
export interface Hidden {
  /** The error with which it refuses their positions; undefined if it returns empty pages there. */
  readonly refusal: ApiError | undefined;
  readonly total: number;
}

/**
 * Recognizes a service that returns nothing from a position on at which a page before it shows a record, for example
 * because it limits `skip`. Without that, the search would go through the list again and again.
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
      // The search goes back in steps. The lowest position decides, because a shorter list may have refused the others.
      this.#empty = { skip: Math.min(skip, empty?.skip ?? skip), refusal };
      return undefined;
    }
    this.#empty = undefined;
    // Compare with the records and not with the total, which may be too large.
    const reached = skip + data.length;
    if (empty === undefined || reached <= empty.skip) return undefined;
    this.#contradictions += 1;
    const isEnough = this.#contradictions >= maxContradictions;
    return isEnough ? { refusal: empty.refusal, total: total ?? reached } : undefined;
  }

  /** Called when a page has new records. */
  reset(): void {
    this.#contradictions = 0;
  }
}
