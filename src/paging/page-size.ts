import type { ApiError } from "../errors.ts";
import type { PageRequest } from "./ahead.ts";

/** A page as the service sent it. Only its records are reliable. */
export interface ServedPage<T> {
  readonly data: T[];
  readonly total?: number | null | undefined;
  /** The longest page that the service returns to this request. */
  readonly limit?: number | undefined;
  /** Instead of a page: the service refused the position, as it may do behind the end of the list. */
  readonly refusal?: ApiError | undefined;
}

/** The most records per page that the document allows. */
export const largestLimit = 200;

/** How many records the service counts; undefined if it gives no number, or one that its own page exceeds. */
export const totalOf = ({ data, total }: ServedPage<unknown>): number | undefined => {
  const count = Number(total ?? Number.NaN);
  return count >= data.length ? count : undefined;
};

/** Whether nothing follows a page. */
export const isLast = ({ skip, limit }: PageRequest, page: ServedPage<unknown>): boolean => {
  const { length } = page.data;
  // A service that shortens pages says so in `limit`.
  const isFull = length === limit || length === page.limit;
  // A total may be outdated, or count only the page, so a full page is the last one only if the next page is empty.
  return length === 0 || (!isFull && page.total === skip + length);
};

/** What is known about the service's page size. */
export class PageSize {
  /** No page is expected to be longer. */
  most = largestLimit;
  /** The length of the longest page. */
  longest: number;

  constructor(longest = 1) {
    this.longest = longest;
  }

  /** How many records a page can share with another one and still bring new ones: half of it, or two. */
  get mostShared(): number {
    return Math.min(this.most - 1, Math.max(2, Math.floor(this.most / 2)));
  }

  /** Records the length of a page. Returns true if it shows that the service returns fewer records than assumed. */
  showsShorter(request: PageRequest, page: ServedPage<unknown>): boolean {
    const { length } = page.data;
    const before = this.most;
    this.longest = Math.max(this.longest, length);
    // A service that returns shorter pages than requested sets the size; the end of the list does not.
    if (length < request.limit && !isLast(request, page)) this.most = Math.min(before, this.longest);
    return this.most < before;
  }
}
