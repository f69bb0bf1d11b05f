import type { ApiError } from "../errors.ts";
import type { PageRequest } from "./ahead.ts";

/** A page as the service returned it. Only its records are reliable. */
export interface ServedPage<T> {
  readonly data: T[];
  readonly total?: number | null | undefined;
  /** The `limit` in the response: the maximum length of this page, according to the service. */
  readonly limit?: number | undefined;
  /** Set instead of records if the service refused the position, which can happen after the end of the list. */
  readonly refusal?: ApiError | undefined;
}

/** The maximum `limit` that the service's document allows. */
export const largestLimit = 200;

/** The service's count of records; undefined if it returns no number, or one that is smaller than its own page. */
export const totalOf = ({ data, total }: ServedPage<unknown>): number | undefined => {
  const count = Number(total ?? Number.NaN);
  return count >= data.length ? count : undefined;
};

/** Whether a page proves that no records follow it. */
export const isLast = ({ skip, limit }: PageRequest, page: ServedPage<unknown>): boolean => {
  const { length } = page.data;
  // A service that shortens pages returns the shorter length in `limit`.
  const isFull = length === limit || length === page.limit;
  // A total may be outdated, or count only this page. So only an empty next page proves that a full page is the last
  // one.
  return length === 0 || (!isFull && page.total === skip + length);
};

/** Learns the service's page size. */
export class PageSize {
  /** The expected maximum length of a page. */
  max = largestLimit;
  /** The length of the longest page. */
  longest: number;

  constructor(longest = 1) {
    this.longest = longest;
  }

  /** The maximum overlap of two pages: half of a page, but at least two records, as long as a new one fits. */
  get maxShared(): number {
    return Math.min(this.max - 1, Math.max(2, Math.floor(this.max / 2)));
  }

  /** Notes the length of a page. Returns true if it shows that the service's pages are shorter than assumed. */
  showsShorter(request: PageRequest, page: ServedPage<unknown>): boolean {
    const { length } = page.data;
    const before = this.max;
    this.longest = Math.max(this.longest, length);
    // A page that is shorter than requested shows the service's page size, unless the list ends with it.
    if (length < request.limit && !isLast(request, page)) this.max = Math.min(before, this.longest);
    return this.max < before;
  }
}
