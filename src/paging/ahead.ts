/** One request for a page. */
export interface PageRequest {
  readonly skip: number;
  readonly limit: number;
}

const keyOf = ({ skip, limit }: PageRequest): string => `${skip}+${limit}`;

/** As many as a client has in flight by default: more could not leave at once. */
const mostAhead = 16;

/** What may be asked for ahead. */
export interface Plan {
  /** Where the next page goes on. */
  readonly position: number;
  /** Where the list ends. */
  readonly until: number;
  /** The most pages. */
  readonly most: number;
  /** Whether a page asked for earlier can be the next one. */
  readonly serves: (request: PageRequest) => boolean;
  /** The request for the page that goes on at a position. */
  readonly request: (position: number) => PageRequest;
}

interface Asked<P> {
  readonly page: Promise<P>;
  readonly abort: AbortController;
  hasCome: boolean;
}

/**
 * Pages asked for before they are needed.
 *
 * How many follows the latency by itself: one more each time the consumer had to wait for a page, so a slow
 * consumer keeps one page waiting, and a fast one keeps the budget busy.
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

  /** The page that was planned to come next. */
  get next(): PageRequest | undefined {
    return this.#planned[0];
  }

  /** Asks for the pages behind the one taken last, as long as those asked for before still serve. */
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

  /** What was planned is of no use any more; the next page taken gives it up. */
  forget(): void {
    this.#planned = [];
  }

  /** The page, from those fetched ahead if it is among them; otherwise those are of no use any more. */
  async take(request: PageRequest): Promise<P> {
    const key = keyOf(request);
    if (!this.#pages.has(key)) this.drop();
    const asked = this.#pages.get(key) ?? this.#ask(request);
    if (!asked.hasCome) this.#depth = Math.min(mostAhead, this.#depth + 1);
    try {
      return await asked.page;
    } finally {
      // Also after a failure: the next try asks again.
      this.#pages.delete(key);
    }
  }

  /** Asks for these pages unless that has been done, and gives up all others. */
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

  /** Gives up whatever is under way. */
  drop(): void {
    this.prepare([]);
  }

  #ask(request: PageRequest): Asked<P> {
    const abort = new AbortController();
    const asked: Asked<P> = { page: this.#fetch(request, abort.signal), abort, hasCome: false };
    this.#pages.set(keyOf(request), asked);
    // A failure is told to whoever takes the page; until then nobody else may hear of it.
    asked.page.then(
      () => {
        asked.hasCome = true;
      },
      () => undefined,
    );
    return asked;
  }
}
