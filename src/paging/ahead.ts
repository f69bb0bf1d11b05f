/** One request for a page. */
export interface PageRequest {
  readonly skip: number;
  readonly limit: number;
}

/** The maximum number of pages ahead if `prefetch` is not set: the default `concurrency` of a client. */
const maxAhead = 16;

/** A requested page. */
interface Requested<P> {
  readonly request: PageRequest;
  readonly abort: AbortController;
  readonly page: Promise<P>;
  hasArrived: boolean;
}

/**
 * Requests pages before the consumer needs them.
 *
 * The number of pages adapts to the latency: it grows by one each time the consumer has to wait for a page. So a slow
 * consumer has one page ready, and a fast one uses the complete limit.
 */
export class PagesAhead<P> {
  readonly #fetch: (request: PageRequest, signal: AbortSignal) => Promise<P>;
  readonly #fixedDepth: number | undefined;
  /** The requested pages. `take` returns the first one next. */
  readonly #requested: Requested<P>[] = [];
  #depth = 1;

  constructor(fetch: (request: PageRequest, signal: AbortSignal) => Promise<P>, depth: number | undefined) {
    this.#fetch = fetch;
    this.#fixedDepth = depth;
  }

  /** The request for the next page, if it was requested ahead. */
  get next(): PageRequest | undefined {
    return this.#requested[0]?.request;
  }

  /**
   * Requests more pages.
   *
   * @param max - the maximum number of pages requested at once.
   * @param after - returns the request that follows `last`; undefined if no page follows. Without `last`, returns the
   * request for the page that the consumer needs next.
   */
  plan(max: number, after: (last?: PageRequest) => PageRequest | undefined): void {
    const depth = Math.min(max, this.#fixedDepth ?? this.#depth);
    while (this.#requested.length < depth) {
      const request = after(this.#requested.at(-1)?.request);
      if (request === undefined) return;
      this.#fetchPage(request);
    }
  }

  /**
   * Returns the first page that was requested ahead. If this page fails, all requested pages are dropped.
   *
   * @param otherwise - returns the request to send if no page was requested ahead.
   */
  async take(otherwise: () => PageRequest): Promise<{ readonly request: PageRequest; readonly page: P }> {
    const taken = this.#requested[0] ?? this.#fetchPage(otherwise());
    if (!taken.hasArrived) this.#depth = Math.min(maxAhead, this.#depth + 1);
    try {
      const page = await taken.page;
      this.#requested.shift();
      return { request: taken.request, page };
    } catch (error) {
      this.drop();
      throw error;
    }
  }

  /** Aborts all requests in flight. */
  drop(): void {
    const reason = new Error("no longer needed");
    for (const { abort } of this.#requested.splice(0)) abort.abort(reason);
  }

  #fetchPage(request: PageRequest): Requested<P> {
    const abort = new AbortController();
    const ahead = { request, abort, page: this.#fetch(request, abort.signal), hasArrived: false };
    // The caller of `take` gets the failure. Until then, it must not count as an unhandled rejection.
    ahead.page.then(
      () => {
        ahead.hasArrived = true;
      },
      () => undefined,
    );
    this.#requested.push(ahead);
    return ahead;
  }
}
