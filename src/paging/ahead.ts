/** One request for a page. */
export interface PageRequest {
  readonly skip: number;
  readonly limit: number;
}

/** The default number of requests in flight: more could not be sent at once. */
const mostAhead = 16;

/** A page that was requested. */
interface Requested<P> {
  readonly request: PageRequest;
  readonly abort: AbortController;
  readonly page: Promise<P>;
  hasCome: boolean;
}

/**
 * Pages that are requested before they are needed.
 *
 * Their number adapts to the latency: one more each time the consumer had to wait for a page. So a slow consumer keeps
 * one page ready, and a fast one uses the whole limit.
 */
export class PagesAhead<P> {
  readonly #fetch: (request: PageRequest, signal: AbortSignal) => Promise<P>;
  readonly #fixedDepth: number | undefined;
  /** The page that is taken now, and those after it. */
  readonly #requested: Requested<P>[] = [];
  #depth = 1;

  constructor(fetch: (request: PageRequest, signal: AbortSignal) => Promise<P>, depth: number | undefined) {
    this.#fetch = fetch;
    this.#fixedDepth = depth;
  }

  /** The page that is due next, if it was requested ahead. */
  get next(): PageRequest | undefined {
    return this.#requested[0]?.request;
  }

  /**
   * Requests further pages.
   *
   * @param most - how many may be requested at once.
   * @param after - the request after another one; undefined if nothing follows. Called without one for the next page.
   */
  plan(most: number, after: (last?: PageRequest) => PageRequest | undefined): void {
    const depth = Math.min(most, this.#fixedDepth ?? this.#depth);
    while (this.#requested.length < depth) {
      const request = after(this.#requested.at(-1)?.request);
      if (request === undefined) return;
      this.#ask(request);
    }
  }

  /**
   * Returns the first page that was requested ahead. After a failure the others are given up: the next call requests
   * `otherwise`.
   *
   * @param otherwise - what to request if nothing was requested ahead.
   */
  async take(otherwise: () => PageRequest): Promise<{ readonly request: PageRequest; readonly page: P }> {
    const taken = this.#requested[0] ?? this.#ask(otherwise());
    if (!taken.hasCome) this.#depth = Math.min(mostAhead, this.#depth + 1);
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

  #ask(request: PageRequest): Requested<P> {
    const abort = new AbortController();
    const ahead = { request, abort, page: this.#fetch(request, abort.signal), hasCome: false };
    // The caller that takes the page gets the failure; until then it must not count as unhandled.
    ahead.page.then(
      () => {
        ahead.hasCome = true;
      },
      () => undefined,
    );
    this.#requested.push(ahead);
    return ahead;
  }
}
