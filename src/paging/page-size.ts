import type { PageRequest } from "./ahead.ts";
import type { ServedPage } from "./walk-settings.ts";

/** The most records that the document allows a page to hold. */
export const largestLimit = 200;

/** What is known of how many records the service puts into a page. */
export class PageSize {
  /** No page is expected to hold more. */
  most = largestLimit;
  /** The longest page seen. */
  longest: number;

  constructor(longest = 1) {
    this.longest = longest;
  }

  /** The most that a page can share with another and still bring something new: half of it, or two. */
  get mostShared(): number {
    return Math.min(this.most - 1, Math.max(2, Math.floor(this.most / 2)));
  }

  /** Takes note of any page; true when it shows that the service gives fewer than thought. */
  showsShorter({ skip, limit }: PageRequest, { data, total }: ServedPage<unknown>): boolean {
    const isEnd = data.length === 0 || total === skip + data.length;
    return !isEnd && this.learn(limit, data.length);
  }

  /** Takes note of a page that does not end the list; true when the service turns out to give fewer than thought. */
  learn(asked: number, length: number): boolean {
    const before = this.most;
    this.longest = Math.max(this.longest, length);
    // A service that gives shorter pages than asked for sets the pace.
    if (length < asked) this.most = Math.min(this.most, this.longest);
    return this.most < before;
  }
}
