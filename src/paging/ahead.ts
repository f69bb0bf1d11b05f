/** One request for a page. */
export interface PageRequest {
  readonly skip: number;
  readonly limit: number;
}

const keyOf = ({ skip, limit }: PageRequest): string => `${skip}+${limit}`;

/** As many as a client has in flight by default: more could not leave at once. */
const mostAhead = 16;

/**
 * Pages asked for before they are needed.
 *
 * How many follows the latency by itself: one more each time the consumer had to wait for a page, so a slow
 * consumer keeps one page waiting, and a fast one keeps the budget busy.
 */
export class PagesAhead<P> {
  readonly #fetch: (request: PageRequest, signal: AbortSignal) => Promise<P>;
  readonly #fixedDepth: number | undefined;
  #depth = 1;
  #pages = new Map<string, { readonly page: Promise<P>; hasCome: boolean }>();
  #abort = new AbortController();

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
    let ahead = this.#pages.get(key);
    if (ahead === undefined) {
      this.drop();
      ahead = this.#ask(request);
    }
    if (!ahead.hasCome) this.#depth = Math.min(mostAhead, this.#depth + 1);
    try {
      return await ahead.page;
    } finally {
      // Also after a failure: the next try asks again.
      this.#pages.delete(key);
    }
  }

  /** Asks for these pages unless that has been done. */
  prepare(requests: readonly PageRequest[]): void {
    for (const request of requests) {
      if (!this.#pages.has(keyOf(request))) this.#ask(request);
    }
  }

  /** Gives up whatever is under way. */
  drop(): void {
    if (this.#pages.size === 0) return;
    this.#abort.abort(new Error("no longer needed"));
    this.#abort = new AbortController();
    this.#pages = new Map();
  }

  #ask(request: PageRequest): { readonly page: Promise<P>; hasCome: boolean } {
    const page = this.#fetch(request, this.#abort.signal);
    const entry = { page, hasCome: false };
    this.#pages.set(keyOf(request), entry);
    // A failure is told to whoever takes the page; until then nobody else may hear of it.
    page.then(
      () => {
        entry.hasCome = true;
      },
      () => undefined,
    );
    return entry;
  }
}
