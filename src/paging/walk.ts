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

/** A page of an iteration: `data` has only records that were not yielded before. */
export interface WalkedPage<T> extends Page<T> {
  /** Pass it to `list(query, { cursor })` to continue after this page, here or in another process. */
  readonly cursor: string;
  /** By how many positions the list had moved since the previous page. */
  readonly drift: number;
}

const idsRemembered = 10 * largestLimit;
const idsInCursor = 100;
/** A page joins if it shows a record among the last so many: the ids behind it stay remembered. */
const oldestJoin = idsRemembered / 2;
/** Above the number of records, so no search has gone through the list without finding the position. */
const mostMisses = 1_000;
const mostRounds = 3;

/**
 * Walks a list by skip and limit, while other programs add and remove records.
 *
 * Each page overlaps the end of the previous one. The position of the last known record in it shows how far the list
 * has moved. Every record after it is new; this needs a stable order. The more the list moves, the larger the overlap.
 * If a page has no known record, the walk searches around it.
 */
export class Walk<T> {
  readonly #settings: WalkSettings<T>;
  readonly #ahead: PagesAhead<ServedPage<T>>;
  readonly #recent: RecentIds;
  readonly #limit: number;
  readonly #size: PageSize;
  /** The number of records before the next one, as far as known. */
  #position: number;
  /** The same when the last page was accepted; a search changes only the position. */
  #reached: number;
  /** Records yielded since the start. While all are remembered, the position cannot be lost. */
  #yielded: number;
  #search: Search | undefined;
  readonly #drift = new Drift();
  /** Pages that did not join since the last one with new records. */
  #misses = 0;
  /** Records yielded last that a search did not find any more. */
  #gone = 0;
  #farthest = 0;
  /** Searches through the whole list for one position: records may move past a search. */
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
    this.#recent = new RecentIds(idsRemembered, place?.recent, place?.kept);
    this.#wrap = new WrapAround(place?.first);
    this.#ahead = new PagesAhead(fetch, prefetch);
  }

  /**
   * Returns the next page with new records; undefined at the end. After a failure it requests the same page again.
   *
   * @throws ResponseValidationError when new records cannot be distinguished from yielded ones.
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

  /** Requests no more pages, and aborts requests in flight. */
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

  /** How many of the `wanted` records a page at this position can share with the previous one. */
  #shared(position: number, wanted: number): number {
    if (!this.#settings.isDriftSafe || this.#recent.isEmpty || this.#beginsAgain) return 0;
    return Math.min(wanted, position, this.#size.mostShared, this.#end.mostShared);
  }

  #accept(request: PageRequest, page: ServedPage<T>): WalkedPage<T> | undefined {
    const ids = page.data.map(idOf);
    this.#watchOrder(ids);
    const anew = this.#search === undefined ? this.#beginsAnew(page, ids) : undefined;
    if (anew !== undefined) return this.#endAt(anew, request, page);
    const known = this.#settings.isDriftSafe ? this.#recent.lastKnownIn(ids) : -1;
    if (this.#search !== undefined) return this.#lookOn(this.#search, request, page, known);
    if (request.skip < this.#position && known === -1) {
      this.#lookElsewhere(request, page);
      return undefined;
    }
    const age = known === -1 ? 0 : this.#recent.ageOf(ids[known] ?? "");
    const isOld = age > Math.max(oldestJoin, this.#gone);
    if (!isOld) return this.#take(request, page, known);
    // So many records were yielded later: to read on from here could go on until the ids after them are forgotten.
    this.#ahead.forget();
    this.#countMiss(request.skip + page.data.length);
    this.#search = new Search(request.skip, this.#size.most);
    return this.#lookOn(this.#search, request, page, known);
  }

  #beginsAnew({ total }: ServedPage<T>, ids: readonly string[]): number | undefined {
    const last = ids.indexOf(this.#recent.last(1)[0] ?? "none");
    // `fast` shares no records with the previous page: only if nothing counts the list, and not if the service ignores
    // `skip`.
    const isFast = !this.#settings.isDriftSafe && total === undefined && this.#yielded > ids.length;
    return last === -1 && !isFast && this.#yielded > 0 ? undefined : this.#wrap.startsIn(ids, last);
  }

  /** Yields new records before the position where the list starts again, and ends there. */
  #endAt(place: number, request: PageRequest, page: ServedPage<T>): WalkedPage<T> | undefined {
    const data = page.data.slice(0, place);
    const known = this.#recent.lastKnownIn(data.map(idOf));
    const walked = this.#take(request, { ...page, data }, known);
    this.#hasEnded = true;
    return walked;
  }

  /** Yields the records after the last known one. */
  #take(request: PageRequest, page: ServedPage<T>, known: number): WalkedPage<T> | undefined {
    const { data } = page;
    const ids = data.map(idOf);
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
    if (fresh.length > 0) this.#misses = this.#gone = 0;
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
      kept: this.#recent.kept,
      first: this.#wrap.first,
      query: this.#settings.query,
    });
    // The counts are the service's own, as validation has left them.
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
      // The search skipped more than a page: later records may be closer to the position.
      this.#search = new Search(search.from, this.#size.most);
      this.#search.next();
      return undefined;
    }
    if (age > 0 && age < search.age) {
      // Other yielded records may follow after this page; only a page further on shows which are new.
      search.age = age;
      return undefined;
    }
    this.#search = undefined;
    this.#gone = age;
    // At most one page at once, although a search requests the largest page.
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
    this.#countMiss(reached);
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
    // All yielded ids are remembered and kept, so starting again repeats no record.
    this.#recent.keep();
    this.#yielded = 0;
    this.#wrap.forget();
    this.#position = this.#settings.skip;
    this.#beginsAgain = true;
  }

  #countMiss(reached: number): void {
    this.#misses += 1;
    this.#farthest = Math.max(this.#farthest, reached);
    if (this.#misses > mostMisses + this.#farthest) {
      throw this.#unusable("the list changes faster than it can be read, or has no order");
    }
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

  /** Whether a page that was requested earlier continues from here, and shares enough records to be likely to join. */
  #serves({ skip, limit }: PageRequest): boolean {
    const shared = this.#position - skip;
    const enough = this.#shared(this.#position, this.#drift.enough);
    // If pages share no records to join them by, only a page that starts exactly here can be used.
    if (enough === 0) return shared === 0 && limit <= this.#size.most;
    return limit <= this.#size.most && shared >= enough && shared < limit;
  }

  #unusable(message: string): ResponseValidationError {
    const { operation } = this.#settings;
    return new ResponseValidationError(`${operation}: ${message}`, { operation, status: 200 });
  }
}
