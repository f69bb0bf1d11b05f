import { ResponseValidationError } from "../errors.ts";
import type { Page } from "../schemas/common.ts";
import { type PageRequest, PagesAhead } from "./ahead.ts";
import { type Place, writeCursor } from "./cursor.ts";
import { largestLimit, PageSize } from "./page-size.ts";
import { RecentIds } from "./recent.ts";
import { Search } from "./search.ts";
import { Standstill } from "./standstill.ts";

/** A page of a walk over a whole list: `data` holds only records not yielded before. */
export interface WalkedPage<T> extends Page<T> {
  /** Give it to `list(query, { cursor })` to go on after this page, here or in another process. */
  readonly cursor: string;
  /** By how many places the list had moved since the page before. */
  readonly drift: number;
}

export interface WalkSettings<T> {
  readonly operation: string;
  readonly fetch: (request: PageRequest, signal: AbortSignal) => Promise<Page<T>>;
  readonly skip: number;
  readonly limit: number;
  /** Pages asked for ahead; undefined: as many as the latency makes useful. */
  readonly prefetch: number | undefined;
  /** `false`: plain skip and limit, which misses and repeats records when the list moves. */
  readonly isDriftSafe: boolean;
  readonly place: Place | undefined;
  readonly onUnstable: (message: string) => void;
}

/** Records that a page shares with the one before, to see whether the list has moved. */
const overlap = 2;
const idsRemembered = 10 * largestLimit;
const idsInCursor = 100;
/** Beyond as many as there are records, no search for the place has gone through the list without finding it. */
const mostMisses = 1_000;
const mostRounds = 3;

const idOf = (record: unknown): string => {
  const { id }: { id?: unknown } = Object(record);
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
};

/**
 * Walks a list by skip and limit while others add and remove records.
 *
 * Each page begins a little before the end of the last one. Where the last known record stands in it tells by how
 * much the list has moved; everything behind that record is new, whatever the order, as long as it is stable.
 * When no known record is in the page, the walk searches around it until it meets one.
 */
export class Walk<T> {
  readonly #settings: WalkSettings<T>;
  readonly #ahead: PagesAhead<Page<T>>;
  readonly #recent: RecentIds;
  readonly #limit: number;
  readonly #size: PageSize;
  /** How many records came before the next one, as far as known. */
  #position: number;
  /** The same when the last page was accepted; a search moves only the position. */
  #reached: number;
  /** Records yielded since the start; as long as all are remembered, the place cannot be lost. */
  #yielded: number;
  #search: Search | undefined;
  /** Pages without a known record since the last one with anything new. */
  #misses = 0;
  #farthest = 0;
  /** Searches through the whole list for one place: records may move past a search. */
  #rounds = 0;
  #beginsAgain = false;
  #hasEnded = false;
  #hasReportedOrder = false;
  readonly #standstill = new Standstill();

  constructor(settings: WalkSettings<T>) {
    const { place, skip, limit, fetch, prefetch } = settings;
    this.#settings = settings;
    this.#limit = Math.min(limit, largestLimit);
    this.#position = place?.position ?? skip;
    this.#reached = this.#position;
    this.#yielded = place?.read ?? 0;
    this.#size = new PageSize(place?.longest);
    this.#recent = new RecentIds(idsRemembered, place?.recent);
    this.#ahead = new PagesAhead(fetch, prefetch);
  }

  /**
   * The next page with anything new in it; undefined at the end. After a failure it asks for the same page again.
   *
   * @throws ResponseValidationError when the rest of the list cannot be told from what was yielded.
   */
  async next(): Promise<WalkedPage<T> | undefined> {
    while (!this.#hasEnded) {
      const request = this.#request(this.#position);
      const page = await this.#ahead.take(request);
      if (this.#hasEnded) break;
      const walked = this.#accept(request, page);
      if (walked !== undefined) return walked;
    }
    this.#ahead.drop();
    return undefined;
  }

  /** Asks for nothing more, and gives up what is under way. */
  stop(): void {
    this.#hasEnded = true;
    this.#ahead.drop();
  }

  #request(position: number): PageRequest {
    if (this.#search !== undefined) {
      return { skip: this.#search.at, limit: this.#size.most };
    }
    const isShared = this.#settings.isDriftSafe && this.#recent.size > 0 && !this.#beginsAgain;
    const shared = isShared ? Math.min(overlap, position, this.#size.most - 1) : 0;
    return { skip: position - shared, limit: Math.min(this.#size.most, this.#limit + shared) };
  }

  #accept(request: PageRequest, page: Page<T>): WalkedPage<T> | undefined {
    const { data } = page;
    const ids = data.map(idOf);
    const known = this.#settings.isDriftSafe ? this.#recent.lastKnownIn(ids) : -1;
    if (this.#search !== undefined) {
      this.#lookOn(this.#search, request, page, known);
      return undefined;
    }
    const isShared = request.skip < this.#position;
    if (isShared && known === -1) {
      this.#lookElsewhere(request, page);
      return undefined;
    }
    this.#watchOrder(ids);
    const drift = isShared ? Math.abs(request.skip + known + 1 - this.#reached) : 0;
    const fresh = data.slice(known + 1);
    const reached = request.skip + data.length;
    this.#hasEnded =
      (fresh.length === 0 && this.#isStuck(request, data.length)) ||
      isLast(request, page) ||
      this.#isWhole(request, page, ids);
    this.#beginsAgain = false;
    this.#recent.add(ids.slice(known + 1));
    this.#yielded += fresh.length;
    this.#rounds = 0;
    if (fresh.length > 0) this.#misses = 0;
    this.#position = reached;
    this.#reached = reached;
    if (!this.#hasEnded) {
      this.#size.learn(request.limit, page.data.length);
      this.#lookAhead(page);
    }
    if (fresh.length === 0) return undefined;
    const cursor = writeCursor({
      position: reached,
      read: this.#yielded,
      longest: this.#size.longest,
      recent: this.#recent.last(idsInCursor),
    });
    return { ...page, data: fresh, cursor, drift };
  }

  /** One step of a search. Nothing is taken from its pages: the walk goes on from the last known record. */
  #lookOn(search: Search, request: PageRequest, page: Page<T>, known: number): void {
    if (known !== -1) {
      this.#position = request.skip + known + 1;
      search.follow(this.#position);
    } else if (search.isNear) {
      this.#search = undefined;
    } else {
      this.#lookElsewhere(request, page);
    }
  }

  #lookElsewhere(request: PageRequest, page: Page<T>): void {
    const reached = request.skip + page.data.length;
    const isEnd = page.data.length === 0 || page.total === reached;
    const isShorter = !isEnd && this.#size.learn(request.limit, page.data.length);
    // Pages shorter than the steps of the search would leave gaps between them.
    if (this.#search === undefined || isShorter) {
      this.#search = new Search(this.#search?.from ?? request.skip, this.#size.most);
    }
    if (isEnd) this.#search.endsAt(reached);
    this.#misses += 1;
    this.#farthest = Math.max(this.#farthest, reached);
    if (this.#misses > mostMisses + this.#farthest) {
      throw this.#unusable("the list changes faster than it can be read, or has no order");
    }
    if (this.#search.next()) return;
    this.#rounds += 1;
    if (this.#yielded > this.#recent.size && this.#rounds < mostRounds) {
      this.#search = new Search(this.#search.from, this.#size.most);
      return;
    }
    this.#search = undefined;
    if (this.#yielded > this.#recent.size) {
      throw this.#unusable(
        `the last ${this.#recent.size} records read are gone from the list, so where to go on cannot be told; start again`,
      );
    }
    // All that was yielded is remembered, so to begin again repeats nobody.
    this.#yielded = 0;
    this.#position = this.#settings.skip;
    this.#beginsAgain = true;
  }

  /** Whether a page without anything new stands at the end of the list. */
  #isStuck({ skip, limit }: PageRequest, length: number): boolean {
    if (skip + length > this.#position) return false;
    // Unless the service caps its pages at what they share: then the next one is asked for with less.
    return length === limit || length < this.#size.longest;
  }

  /** Whether the service shows the whole list whatever it is asked for. */
  #isWhole({ skip }: PageRequest, { data, total }: Page<T>, ids: readonly string[]): boolean {
    if (!this.#standstill.holdsAt(skip, ids)) return false;
    if (typeof total === "number" ? data.length >= total : data.length !== this.#limit) return true;
    throw this.#unusable("the service answers the same page whatever skip is, so the rest cannot be read");
  }

  #watchOrder(ids: readonly string[]): void {
    if (this.#hasReportedOrder || this.#recent.standsInOrder(ids)) return;
    this.#hasReportedOrder = true;
    this.#settings.onUnstable(
      "the order of the list changes while it is read: some may be missed or repeated",
    );
  }

  #lookAhead({ total }: Page<T>): void {
    const requests: PageRequest[] = [];
    let position = this.#position;
    while (typeof total === "number" && requests.length < this.#ahead.depth && position < total) {
      const request = this.#request(position);
      requests.push(request);
      position = request.skip + request.limit;
    }
    this.#ahead.prepare(requests);
  }

  #unusable(message: string): ResponseValidationError {
    const { operation } = this.#settings;
    return new ResponseValidationError(`${operation}: ${message}`, { operation, status: 200 });
  }
}

// A total may be stale, or count only the page: a full page is believed to be the last one only once nothing follows.
const isLast = <T>({ skip, limit }: PageRequest, { data, total }: Page<T>): boolean =>
  data.length === 0 || (data.length < limit && total === skip + data.length);
