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

/** A page that was requested ahead. */
interface Planned<P> {
  readonly request: PageRequest;
  readonly abort: AbortController;
  readonly page: Promise<P>;
  hasCome: boolean;
  /** The caller has got its failure: it is requested again. */
  hasFailed: boolean;
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
  readonly #planned: Planned<P>[] = [];
  #taken: Planned<P> | undefined;
  #depth = 1;

  constructor(fetch: (request: PageRequest, signal: AbortSignal) => Promise<P>, depth: number | undefined) {
    this.#fetch = fetch;
    this.#fixedDepth = depth;
  }

  /** The page that was planned next. */
  get next(): PageRequest | undefined {
    return this.#planned[0]?.request;
  }

  /** Requests the pages after the current one, if the pages requested before can still be used. */
  plan({ position, until, most, serves, request }: Plan): void {
    const [first] = this.#planned;
    if (first !== undefined && !serves(first.request)) this.drop();
    const last = this.#planned.at(-1)?.request;
    let at = last === undefined ? position : last.skip + last.limit;
    const depth = Math.min(most, this.#fixedDepth ?? this.#depth);
    while (this.#planned.length < depth && at < until) {
      const next = request(at);
      this.#planned.push(this.#ask(next));
      at = next.skip + next.limit;
    }
  }

  /** Returns the page, from the prefetched ones if it is the next of them; otherwise those cannot be used any more. */
  async take(request: PageRequest): Promise<P> {
    if (this.next?.skip !== request.skip || this.next.limit !== request.limit) this.drop();
    const planned = this.#planned.shift();
    if (!planned?.hasCome) this.#depth = Math.min(mostAhead, this.#depth + 1);
    const taken = planned === undefined || planned.hasFailed ? this.#ask(request) : planned;
    this.#taken = taken;
    try {
      return await taken.page;
    } catch (error) {
      taken.hasFailed = true;
      this.#planned.unshift(taken);
      throw error;
    } finally {
      this.#taken = undefined;
    }
  }

  /** Aborts all requests in flight. */
  drop(): void {
    const reason = new Error("no longer needed");
    this.#taken?.abort.abort(reason);
    for (const { abort } of this.#planned.splice(0)) abort.abort(reason);
  }

  #ask(request: PageRequest): Planned<P> {
    const abort = new AbortController();
    const planned = {
      request,
      abort,
      page: this.#fetch(request, abort.signal),
      hasCome: false,
      hasFailed: false,
    };
    // The caller that takes the page gets the failure; until then it must not count as unhandled.
    planned.page.then(
      () => {
        planned.hasCome = true;
      },
      () => undefined,
    );
    return planned;
  }
}
