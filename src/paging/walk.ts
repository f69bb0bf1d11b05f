import { ResponseValidationError } from "../errors.ts";
import type { Page } from "../service/common.ts";
import { type PageRequest, PagesAhead } from "./ahead.ts";
import { writeCursor } from "./cursor.ts";
import { Drift } from "./drift.ts";
import { ListEnd } from "./end.ts";
import { largestLimit, PageSize } from "./page-size.ts";
import { idOf, onceEach, RecentIds } from "./recent.ts";
import { Search } from "./search.ts";
import type { ServedPage, WalkSettings } from "./walk-settings.ts";
import { WrapAround } from "./wrap.ts";

/** A page of a walk over a whole list: `data` holds only records not yielded before. */
export interface WalkedPage<T> extends Page<T> {
  /** Give it to `list(query, { cursor })` to go on after this page, here or in another process. */
  readonly cursor: string;
  /** By how many places the list had moved since the page before. */
  readonly drift: number;
}

const idsRemembered = 10 * largestLimit;
const idsInCursor = 100;
/** Beyond as many as there are records, no search for the place has gone through the list without finding it. */
const mostMisses = 1_000;
const mostRounds = 3;

/**
 * Walks a list by skip and limit while others add and remove records.
 *
 * Each page begins a little before the end of the last one. Where the last known record stands in it tells by how
 * much the list has moved; everything behind that record is new, whatever the order, as long as it is stable.
 * The more the list moves, the earlier a page begins. When no known record is in it, the walk searches around it.
 */
export class Walk<T> {
  readonly #settings: WalkSettings<T>;
  readonly #ahead: PagesAhead<ServedPage<T>>;
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
  readonly #drift = new Drift();
  /** Pages without a known record since the last one with anything new. */
  #misses = 0;
  #farthest = 0;
  /** Searches through the whole list for one place: records may move past a search. */
  #rounds = 0;
  #beginsAgain = false;
  #hasEnded = false;
  #hasReportedOrder = false;
  readonly #end: ListEnd;
  readonly #wrap: WrapAround;

  constructor(settings: WalkSettings<T>) {
    const { place, skip, limit, fetch, prefetch } = settings;
    this.#settings = settings;
    this.#limit = Math.min(limit, largestLimit);
    this.#end = new ListEnd(this.#limit, {
      report: settings.onUnstable,
      unusable: (why) => this.#unusable(why),
    });
    this.#position = place?.position ?? skip;
    this.#reached = this.#position;
    this.#yielded = place?.read ?? 0;
    this.#size = new PageSize(place?.longest);
    this.#recent = new RecentIds(idsRemembered, place?.recent);
    this.#wrap = new WrapAround(place?.first);
    this.#ahead = new PagesAhead(fetch, prefetch);
  }

  /**
   * The next page with anything new in it; undefined at the end. After a failure it asks for the same page again.
   *
   * @throws ResponseValidationError when the rest of the list cannot be told from what was yielded.
   */
  async next(): Promise<WalkedPage<T> | undefined> {
    while (!this.#hasEnded) {
      const request = this.#ahead.next ?? this.#request(this.#position);
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
    const { most } = this.#size;
    if (this.#search?.isNear === false) return { skip: this.#search.at, limit: most };
    const shared = this.#shared(position, this.#drift.shared);
    return { skip: position - shared, limit: this.#search ? most : Math.min(most, this.#limit + shared) };
  }

  /** How many of the `wanted` records a page at this position can share with the one before. */
  #shared(position: number, wanted: number): number {
    if (!this.#settings.isDriftSafe || this.#recent.size === 0 || this.#beginsAgain) return 0;
    return Math.min(wanted, position, this.#size.mostShared, this.#end.mostShared);
  }

  #accept(request: PageRequest, page: ServedPage<T>): WalkedPage<T> | undefined {
    const ids = page.data.map(idOf);
    const anew = this.#search === undefined ? this.#beginsAnew(page, ids) : undefined;
    if (anew !== undefined) return this.#endAt(anew, request, page);
    const known = this.#settings.isDriftSafe ? this.#recent.lastKnownIn(ids) : -1;
    if (this.#search !== undefined) return this.#lookOn(this.#search, request, page, known);
    if (request.skip < this.#position && known === -1) {
      this.#lookElsewhere(request, page);
      return undefined;
    }
    return this.#take(request, page, known);
  }

  #beginsAnew({ total }: ServedPage<T>, ids: readonly string[]): number | undefined {
    const last = ids.indexOf(this.#recent.last(1)[0] ?? "none");
    // `fast` shares no record with the page before: only where nothing counts the list, and not if it ignores `skip`.
    const isFast = !this.#settings.isDriftSafe && total === undefined && this.#yielded > ids.length;
    return last === -1 && !isFast && this.#yielded > 0 ? undefined : this.#wrap.startsIn(ids, last);
  }

  /** Yields what is new before the place where the list begins anew, and ends there. */
  #endAt(place: number, request: PageRequest, page: ServedPage<T>): WalkedPage<T> | undefined {
    const data = page.data.slice(0, place);
    const known = this.#recent.lastKnownIn(data.map(idOf));
    const walked = this.#take(request, { ...page, data }, known);
    this.#hasEnded = true;
    return walked;
  }

  /** Yields what stands behind the last known record. */
  #take(request: PageRequest, page: ServedPage<T>, known: number): WalkedPage<T> | undefined {
    const { data } = page;
    const ids = data.map(idOf);
    this.#watchOrder(ids);
    const fresh = onceEach(data.slice(known + 1), ids.slice(known + 1));
    const { longest } = this.#size;
    const isAtEnd = this.#end.isAt(request, page, { position: this.#position, longest, fresh: fresh.length });
    if (isAtEnd === undefined) {
      this.#ahead.forget();
      return undefined;
    }
    const shift =
      known === -1 || request.skip >= this.#position ? 0 : this.#reached - (request.skip + known + 1);
    this.#drift.joined(shift);
    const reached = request.skip + data.length;
    this.#hasEnded = isAtEnd;
    this.#beginsAgain = false;
    this.#recent.add(ids.slice(known + 1));
    this.#wrap.add(ids.slice(known + 1));
    this.#yielded += fresh.length;
    this.#rounds = 0;
    if (fresh.length > 0) this.#misses = 0;
    this.#position = this.#reached = reached;
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
      first: this.#wrap.first,
    });
    // The counts are the service's own, as the answer's check has left them.
    return { ...page, data: fresh, cursor, drift: Math.abs(shift) } as WalkedPage<T>;
  }

  /** One step of a search. */
  #lookOn(
    search: Search,
    request: PageRequest,
    page: ServedPage<T>,
    known: number,
  ): WalkedPage<T> | undefined {
    if (known === -1) {
      const isBehind = search.isNear && request.skip === this.#position;
      if (search.isNear) this.#search = undefined;
      if (!isBehind) this.#lookElsewhere(request, page);
      return undefined;
    }
    this.#position = request.skip + known + 1;
    const age = this.#recent.ageOf(idOf(page.data[known]));
    if (age > 0 && this.#size.showsShorter(request, page)) {
      // The search stepped over more than a page: nearer to the place there may be later ones.
      this.#search = new Search(search.from, this.#size.most);
      this.#search.next();
      return undefined;
    }
    if (age > 0 && age < search.age) {
      // Others that were yielded may follow behind this page; its new records are those of one that looks further.
      search.age = age;
      return undefined;
    }
    this.#search = undefined;
    // No more than a page at once, although a search asks for the most.
    const data = page.data.slice(0, known + 1 + this.#limit);
    if (data.length === known + 1) return undefined;
    const limit = data.length < page.data.length ? data.length : request.limit;
    return this.#take({ skip: request.skip, limit }, { ...page, data }, known);
  }

  #lookElsewhere(request: PageRequest, page: ServedPage<T>): void {
    this.#ahead.forget();
    this.#drift.missed(this.#search === undefined ? this.#position - request.skip : 0);
    const reached = request.skip + page.data.length;
    const isShorter = this.#size.showsShorter(request, page);
    // Pages shorter than the steps of the search would leave gaps between them.
    if (this.#search === undefined || isShorter) {
      this.#search = new Search(this.#search?.from ?? request.skip, this.#size.most);
    }
    if (page.data.length === 0 || page.total === reached) this.#search.endsAt(reached);
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
    this.#wrap.forget();
    this.#position = this.#settings.skip;
    this.#beginsAgain = true;
  }

  #watchOrder(ids: readonly string[]): void {
    if (this.#hasReportedOrder || this.#recent.standsInOrder(ids)) return;
    this.#hasReportedOrder = true;
    this.#settings.onUnstable(
      "the order of the list changes while it is read: some may be missed or repeated",
    );
  }

  #lookAhead({ total }: ServedPage<T>): void {
    this.#ahead.plan({
      position: this.#position,
      until: typeof total === "number" ? total : 0,
      most: this.#drift.pagesAhead,
      serves: (request) => this.#serves(request),
      request: (position) => this.#request(position),
    });
  }

  /** Whether a page asked for earlier goes on from here, and shares enough to be likely to join. */
  #serves({ skip, limit }: PageRequest): boolean {
    const shared = this.#position - skip;
    const enough = this.#shared(this.#position, this.#drift.enough);
    // Where pages share nothing by which they could be joined, only one that goes on right here will do.
    if (enough === 0) return shared === 0 && limit <= this.#size.most;
    return limit <= this.#size.most && shared >= enough && shared < limit;
  }

  #unusable(message: string): ResponseValidationError {
    const { operation } = this.#settings;
    return new ResponseValidationError(`${operation}: ${message}`, { operation, status: 200 });
  }
}
