/** One request for a page. */
export interface PageRequest {
  readonly skip: number;
  readonly limit: number;
}

const keyOf = ({ skip, limit }: PageRequest): string => `${skip}+${limit}`;

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

interface Asked<P> {
  readonly page: Promise<P>;
  readonly abort: AbortController;
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
  readonly #pages = new Map<string, Asked<P>>();
  #depth = 1;
  #planned: readonly PageRequest[] = [];

  constructor(fetch: (request: PageRequest, signal: AbortSignal) => Promise<P>, depth: number | undefined) {
    this.#fetch = fetch;
    this.#fixedDepth = depth;
  }

  /** The page that was planned next. */
  get next(): PageRequest | undefined {
    return this.#planned[0];
  }

  /** Requests the pages after the current one, if the pages requested before can still be used. */
  plan({ position, until, most, serves, request }: Plan): void {
    const later = this.#planned.slice(1);
    const planned = later[0] !== undefined && serves(later[0]) ? later : [];
    const last = planned.at(-1);
    let at = last === undefined ? position : last.skip + last.limit;
    while (planned.length < Math.min(most, this.#fixedDepth ?? this.#depth) && at < until) {
      const next = request(at);
      planned.push(next);
      at = next.skip + next.limit;
    }
    this.#planned = planned;
    this.prepare(planned);
  }

  /** The planned pages cannot be used any more; the next `take` aborts them. */
  forget(): void {
    this.#planned = [];
  }

  /** Returns the page, from the prefetched ones if it is among them; otherwise those cannot be used any more. */
  async take(request: PageRequest): Promise<P> {
    const key = keyOf(request);
    if (!this.#pages.has(key)) this.drop();
    const asked = this.#pages.get(key) ?? this.#ask(request);
    if (!asked.hasCome) this.#depth = Math.min(mostAhead, this.#depth + 1);
    try {
      return await asked.page;
    } finally {
      // Also after a failure: the next try requests the page again.
      this.#pages.delete(key);
    }
  }

  /** Requests these pages, unless they are requested already, and aborts all others. */
  prepare(requests: readonly PageRequest[]): void {
    const wanted = new Set(requests.map(keyOf));
    for (const [key, { abort }] of this.#pages) {
      if (wanted.has(key)) continue;
      this.#pages.delete(key);
      abort.abort(new Error("no longer needed"));
    }
    for (const request of requests) {
      if (!this.#pages.has(keyOf(request))) this.#ask(request);
    }
  }

  /** Aborts all requests in flight. */
  drop(): void {
    this.prepare([]);
  }

  #ask(request: PageRequest): Asked<P> {
    const abort = new AbortController();
    const asked: Asked<P> = { page: this.#fetch(request, abort.signal), abort, hasCome: false };
    this.#pages.set(keyOf(request), asked);
    // The caller that takes the page gets the failure; until then it must not count as unhandled.
    asked.page.then(
      () => {
        asked.hasCome = true;
      },
      () => undefined,
    );
    return asked;
  }
}
