import { ApiError } from "../../src/errors.ts";
import type { PageRequest } from "../../src/paging/ahead.ts";
import type { ServedPage } from "../../src/paging/page-size.ts";

export interface Item {
  readonly id: string;
}

/** How the service counts its records. */
export type Totals = "true" | "missing" | "too small" | "too large" | "of the page";

export interface MovingListOptions {
  /** How many records there are at first. */
  readonly length: number;
  /** Where a new record goes. */
  readonly order: "oldest first" | "newest first" | "by name";
  readonly totals?: Totals;
  /** The largest page, even if the request asks for more. */
  readonly cap?: number;
  /** Each page reports the limit that the service applied, not the limit of the request. */
  readonly namesCap?: boolean;
  readonly ignoresSkip?: boolean;
  /** The status of the error for a position after the end. If undefined, the page is empty. */
  readonly pastEnd?: 400 | 404 | undefined;
  /** The largest `skip`. At a larger one, the service returns no records or the error of `pastEnd`. */
  readonly mostSkip?: number;
  /** After its end, the list starts again within the same page. */
  readonly wraps?: boolean;
  /** Called before each page is read. It may change the list. */
  readonly before?: (list: MovingList, request: PageRequest) => void;
  /** How long each response takes, in turns of the microtask queue. */
  readonly delay?: () => number;
}

/** No test needs so many requests. With this limit, an endless walk fails instead of hanging. */
const mostRequests = 20_000;

/** A list paged by skip and limit, which changes between requests. */
export class MovingList {
  items: Item[];
  /** The ids that were in the list from the start and were never removed. */
  readonly throughout: Set<string>;
  readonly requests: PageRequest[] = [];
  readonly #options: MovingListOptions;
  #added = 0;

  constructor(options: MovingListOptions) {
    this.#options = options;
    this.items = Array.from({ length: options.length }, (_, at) => ({ id: `old-${at}` }));
    this.throughout = new Set(this.items.map(({ id }) => id));
  }

  /** Adds a record at its place in the order. If the order is by name, `place`, 0–1, decides. */
  add(place: number): void {
    const item = { id: `new-${this.#added++}` };
    if (this.#options.order === "newest first") this.items.unshift(item);
    else if (this.#options.order === "oldest first") this.items.push(item);
    else this.items.splice(Math.floor(place * (this.items.length + 1)), 0, item);
  }

  /** Removes `count` records, starting at an index. */
  remove(from: number, count = 1): void {
    for (const { id } of this.items.splice(Math.max(0, from), count)) this.throughout.delete(id);
  }

  readonly fetch = async (request: PageRequest, signal?: AbortSignal): Promise<ServedPage<Item>> => {
    this.requests.push(request);
    if (this.requests.length > mostRequests) throw new Error("the walk does not end");
    for (let left = this.#options.delay?.() ?? 0; left > 0; left -= 1) await undefined;
    signal?.throwIfAborted();
    this.#options.before?.(this, request);
    const { ignoresSkip = false, cap = 200, namesCap = false, wraps = false, pastEnd } = this.#options;
    const { mostSkip = Number.POSITIVE_INFINITY } = this.#options;
    const isHidden = request.skip > mostSkip;
    if (pastEnd !== undefined && request.skip > 0 && (isHidden || request.skip >= this.items.length))
      throw new ApiError("skip is too large", { status: pastEnd, headers: new Headers(), body: undefined });
    const skip = ignoresSkip ? 0 : request.skip;
    const length = Math.min(request.limit, cap);
    const wrapped = (at: number): Item[] => this.items.slice((skip + at) % this.items.length).slice(0, 1);
    if (isHidden) return { data: [], total: this.#total(0), limit: request.limit };
    const data = wraps
      ? Array.from({ length }, (_, at) => wrapped(at)).flat()
      : this.items.slice(skip, skip + length);
    const total = this.#total(data.length);
    return { data, total, limit: namesCap ? length : request.limit };
  };

  #total(inPage: number): number | undefined {
    const { length } = this.items;
    switch (this.#options.totals ?? "true") {
      case "true":
        return length;
      case "missing":
        return undefined;
      case "too small":
        return Math.floor(length / 3);
      case "too large":
        return 3 * length + 7;
      case "of the page":
        return inPage;
    }
  }
}
