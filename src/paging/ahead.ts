/** One request for a page. */
export interface PageRequest {
  readonly skip: number;
  readonly limit: number;
}

/** The default number of requests in flight: more could not be sent at once. */
const mostAhead = 16;

/** Which pages to request ahead. */
export interface Plan {
  /** The position of the next page. */
  readonly position: number;
  /** The end of the list. */
  readonly until: number;
  /** The most pages. */
  readonly most: number;
  /** Whether a page that was requested earlier can be the next one. */
  readonly serves: (request: PageRequest) => boolean;
  /** The request for the page at a position. */
  readonly request: (position: number) => PageRequest;
}

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

  /** Requests the pages after the current one, if the pages requested before can still be used. */
  plan({ position, until, most, serves, request }: Plan): void {
    const [first] = this.#requested;
    if (first !== undefined && !serves(first.request)) this.drop();
    const last = this.#requested.at(-1)?.request;
    let at = last === undefined ? position : last.skip + last.limit;
    const depth = Math.min(most, this.#fixedDepth ?? this.#depth);
    while (this.#requested.length < depth && at < until) {
      const next = request(at);
      this.#ask(next);
      at = next.skip + next.limit;
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
    const asked = { request, abort, page: this.#fetch(request, abort.signal), hasCome: false };
    // The caller that takes the page gets the failure; until then it must not count as unhandled.
    asked.page.then(
      () => {
        asked.hasCome = true;
      },
      () => undefined,
    );
    this.#requested.push(asked);
    return asked;
  }
}
