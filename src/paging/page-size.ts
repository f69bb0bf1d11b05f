import type { PageRequest } from "./ahead.ts";
import type { ServedPage } from "./walk-settings.ts";

/** The most records per page that the document allows. */
export const largestLimit = 200;

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

  /** Records any page. Returns true if it shows that the service returns fewer records than assumed. */
  showsShorter({ skip, limit }: PageRequest, { data, total, limit: own }: ServedPage<unknown>): boolean {
    const isEnd = data.length === 0 || (total === skip + data.length && data.length !== own);
    return this.learn(isEnd ? data.length : limit, data.length);
  }

  /** Records the length of a page. Returns true if the service returns fewer records than assumed. */
  learn(asked: number, length: number): boolean {
    const before = this.most;
    this.longest = Math.max(this.longest, length);
    // A service that returns shorter pages than requested sets the size.
    if (length < asked) this.most = Math.min(this.most, this.longest);
    return this.most < before;
  }
}
