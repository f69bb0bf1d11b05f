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

  /** Takes note of a page that does not end the list; true when the service turns out to give fewer than thought. */
  learn(asked: number, length: number): boolean {
    const before = this.most;
    this.longest = Math.max(this.longest, length);
    // A service that gives shorter pages than asked for sets the pace.
    if (length < asked) this.most = Math.min(this.most, this.longest);
    return this.most < before;
  }
}
