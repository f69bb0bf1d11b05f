/** One request for a page. */
export interface PageRequest {
  readonly skip: number;
  readonly limit: number;
}

const keyOf = ({ skip, limit }: PageRequest): string => `${skip}+${limit}`;

/** As many as a client has in flight by default: more could not leave at once. */
const mostAhead = 16;

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

  constructor(fetch: (request: PageRequest, signal: AbortSignal) => Promise<P>, depth: number | undefined) {
    this.#fetch = fetch;
    this.#fixedDepth = depth;
  }

  get depth(): number {
    return this.#fixedDepth ?? this.#depth;
  }

  /** The page, from those fetched ahead if it is among them; otherwise those are of no use any more. */
  async take(request: PageRequest): Promise<P> {
    const key = keyOf(request);
    if (!this.#pages.has(key)) this.prepare([request]);
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
