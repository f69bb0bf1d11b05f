import { ApiError, ResponseValidationError } from "../errors.ts";
import type { Page } from "../service/common.ts";
import { type PageRequest, PagesAhead } from "./ahead.ts";
import { type CursorState, writeCursor } from "./cursor.ts";
import { Drift } from "./drift.ts";
import { ListEnd } from "./end.ts";
import { HiddenRecords } from "./hidden.ts";
import { largestLimit, PageSize, type ServedPage } from "./page-size.ts";
import { moveOf, type Phase } from "./phase.ts";
import { idOf, RecentIds } from "./recent.ts";
import { Search } from "./search.ts";

/** The settings of a walk. */
export interface WalkSettings<T> {
  readonly operation: string;
  readonly fetch: (request: PageRequest, signal: AbortSignal) => Promise<ServedPage<T>>;
  readonly skip: number;
  readonly limit: number;
  /** The number of pages to request ahead. If undefined, as many as the latency makes useful. */
  readonly prefetch: number | undefined;
  /** Whether to handle a list that moves. If not, plain `skip` and `limit` miss or repeat records when it moves. */
  readonly isDriftSafe: boolean;
  /** The position of an earlier walk from which this one continues. */
  readonly start: CursorState | undefined;
  /** The `queryText` of the list, for cursors. */
  readonly query?: string | undefined;
  readonly onUnstable: (message: string) => void;
  /** Called when the list ends below the service's count. Returns the error to throw, or reports the shortage. */
  readonly onShort: (missing: number, total: number) => Error | undefined;
}

/** A page of an iteration: `data` has only records that were not yielded before. */
export interface WalkedPage<T> extends Page<T> {
  /** Pass it to `list(query, { cursor })` to continue after this page, here or in another process. */
  readonly cursor: string;
  /** The number of positions by which the list has moved since the previous page. */
  readonly drift: number;
}

/** A page that has arrived, and the index of the last record on it that was yielded before; -1 if there is none. */
interface Arrived<T> {
  readonly request: PageRequest;
  readonly page: ServedPage<T>;
  readonly lastKnown: number;
}

const idsRemembered = 10 * largestLimit;
const idsInCursor = 100;
/** A page joins if at most this many records were yielded after its last known record. Older ids only help a search. */
const maxJoinAge = idsRemembered / 2;
/** The walk fails after more misses than this number plus `#farthest`, so it can always search the complete list. */
const maxMisses = 1_000;
const maxRounds = 3;

/** If `skip` may be past the end of the list, returns an empty page with the refusal. Throws other refusals. */
const withoutRecords = ({ skip }: PageRequest, refusal: unknown): ServedPage<never> => {
  const isPastEnd =
    skip > 0 && refusal instanceof ApiError && (refusal.status === 400 || refusal.status === 404);
  if (isPastEnd) return { data: [], refusal };
  throw refusal;
};

/**
 * Walks a list by skip and limit, while other programs add and remove records.
 *
 * Each page overlaps the end of the previous one. A record is known if it was yielded before. The position of the last
 * known record on a page shows how far the list has moved. Every later record is new, if the order of the list is
 * stable. The more the list moves, the larger the overlap. If a page has no known record, the walk searches around the
 * page. `moveOf` decides what to do.
 */
export class Walk<T> {
  readonly #settings: WalkSettings<T>;
  readonly #ahead: PagesAhead<ServedPage<T>>;
  readonly #recent: RecentIds;
  readonly #limit: number;
  readonly #size: PageSize;
  readonly #drift = new Drift();
  readonly #end: ListEnd;
  readonly #hidden = new HiddenRecords();
  #phase: Phase;
  /** The assumed position of the next record. */
  #position: number;
  /** The value of `#position` after the last page that was taken. A search changes only `#position`. */
  #reached: number;
  /** The number of pages that did not join since the last page with new records. */
  #misses = 0;
  /** The farthest position that a page which did not join has reached. */
  #farthest = 0;
  /** How many of the last yielded records a search could not find. */
  #gone = 0;
  /** How often the complete list was searched for the current position. During a search, records may move. */
  #rounds = 0;
  #hasEnded = false;
  #hasReportedOrder = false;

  constructor(settings: WalkSettings<T>) {
    const { start, skip, limit, fetch, prefetch } = settings;
    this.#settings = settings;
    this.#limit = Math.min(limit, largestLimit);
    this.#end = new ListEnd(this.#limit, {
      short: settings.onShort,
      unusable: (why) => this.#unusable(why),
    });
    this.#phase = { is: start === undefined ? "beginning" : "reading" };
    this.#position = this.#reached = start?.position ?? skip;
    this.#size = new PageSize(start?.longest);
    this.#recent = new RecentIds(idsRemembered, start?.recent, start);
    this.#ahead = new PagesAhead(
      (request, signal) => fetch(request, signal).catch((error) => withoutRecords(request, error)),
      prefetch,
    );
  }

  /**
   * Returns the next page with new records; undefined at the end. After a failure, the next call requests the
   * same page again.
   *
   * @throws ResponseValidationError when new records cannot be distinguished from yielded ones.
   */
  async next(): Promise<WalkedPage<T> | undefined> {
    while (!this.#hasEnded) {
      const { request, page } = await this.#ahead.take(() => this.#request(this.#position));
      if (this.#hasEnded) break;
      if (page.refusal !== undefined && !this.#mayBePastEnd(request)) {
        this.#ahead.drop();
        throw page.refusal;
      }
      if (this.#endsBefore(request, page)) break;
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
    const { max } = this.#size;
    if (this.#phase.is === "searching") return { skip: this.#phase.search.position, limit: max };
    const shared = this.#shared(position, this.#drift.shared);
    const isNear = this.#phase.is === "approaching";
    return { skip: position - shared, limit: isNear ? max : Math.min(max, this.#limit + shared) };
  }

  /** How many of `wanted` records a page at this position can share with the previous one. */
  #shared(position: number, wanted: number): number {
    if (!this.#settings.isDriftSafe || this.#recent.isEmpty || this.#phase.is === "beginning") return 0;
    return Math.min(wanted, position, this.#size.maxShared, this.#end.maxShared);
  }

  /** Whether the service may have refused the page only because it starts after the end of the list. */
  #mayBePastEnd({ skip }: PageRequest): boolean {
    if (skip < this.#position || this.#phase.is === "searching" || this.#end.isCountedTo(skip)) return true;
    return Math.min(this.#size.maxShared, this.#end.maxShared) === 0;
  }

  /**
   * Whether the walk ends here because the service does not return the records that follow, although it counts them.
   *
   * @throws the service's error if it refuses their positions. Also throws the error of `onShort`.
   */
  #endsBefore(request: PageRequest, page: ServedPage<T>): boolean {
    const hidden = this.#hidden.in(request, page);
    if (hidden === undefined) return false;
    this.#ahead.drop();
    const { refusal, total } = hidden;
    // The position of the last yielded record is certain only if this page shows the record. Otherwise, the list may
    // have moved, and `#reached` is an estimate, which cannot prove that no record is missing.
    const last = page.data.findIndex((record) => this.#recent.ageOf(idOf(record)) === 0);
    const missing = total - (last === -1 ? this.#reached : request.skip + last + 1);
    const isComplete = last !== -1 && missing <= 0;
    const fault = isComplete ? undefined : (refusal ?? this.#settings.onShort(Math.max(1, missing), total));
    if (fault !== undefined) throw fault;
    this.#hasEnded = true;
    return true;
  }

  #accept(request: PageRequest, served: ServedPage<T>): WalkedPage<T> | undefined {
    const isCut = this.#size.showsShorter(request, served);
    const shown = served.data.map(idOf);
    if (!this.#recent.areInOrder(shown)) this.#reportOrder();
    const restart = this.#restartIn(served, shown);
    const ids = shown.slice(0, restart);
    const page = { ...served, data: served.data.slice(0, restart) };
    const lastKnown = this.#settings.isDriftSafe ? this.#recent.lastKnownIn(ids) : -1;
    const age = this.#recent.ageOf(ids[lastKnown] ?? "");
    const overlaps = request.skip < this.#position;
    const sight = { age, overlaps, isCut, maxJoinAge: Math.max(maxJoinAge, this.#gone) };
    const move = restart === undefined ? moveOf(this.#phase, sight) : "take";
    if (move === "search") this.#search({ request, page, lastKnown }, isCut);
    else if (move === "approach") this.#approach({ request, page, lastKnown }, age);
    else if ("search" in this.#phase) return this.#join({ request, page, lastKnown }, age);
    else return this.#take({ request, page, lastKnown }, restart !== undefined);
    return undefined;
  }

  /** The index at which the list starts again on a page, after its end; undefined if it does not. */
  #restartIn({ total }: ServedPage<T>, ids: readonly string[]): number | undefined {
    if ("search" in this.#phase) return undefined;
    // In `fast` mode, pages do not overlap. A restart counts there only if the service returns no total, and if more
    // records were yielded than this page has. Otherwise, the service may just ignore `skip`.
    const needsNoOverlap =
      !this.#settings.isDriftSafe && total === undefined && this.#recent.count > ids.length;
    return this.#recent.restartIn(ids, !needsNoOverlap);
  }

  /** Continues after the records that a search has found. */
  #join({ request, page, lastKnown }: Arrived<T>, age: number): WalkedPage<T> | undefined {
    if (lastKnown !== -1) this.#position = request.skip + lastKnown + 1;
    // Yield at most `limit` records at once, although a search requests the largest page.
    const data = page.data.slice(0, lastKnown + 1 + this.#limit);
    const limit = data.length < page.data.length ? data.length : request.limit;
    if (lastKnown === -1 || data.length > lastKnown + 1)
      return this.#take(
        { request: { skip: request.skip, limit }, page: { ...page, data }, lastKnown },
        false,
      );
    this.#phase = { is: "reading" };
    this.#gone = age;
    return undefined;
  }

  /** Yields the records that were not yielded before. Between known ones, such records are new or have moved. */
  #take({ request, page, lastKnown }: Arrived<T>, isRestart: boolean): WalkedPage<T> | undefined {
    const { fresh, next } = this.#recent.newIn(page.data, this.#settings.isDriftSafe);
    const isFirst = lastKnown === -1 || this.#phase.is === "beginning";
    const shift = isFirst ? 0 : this.#reached - (request.skip + lastKnown + 1);
    if (this.#end.refutes(shift, page)) this.#reportOrder();
    const yielded = this.#hasReportedOrder ? this.#settings.skip + this.#recent.yielded : undefined;
    const state = { position: this.#position, longest: this.#size.longest, fresh: fresh.length, yielded };
    const isAtEnd = this.#end.isAt(request, page, state);
    // Undefined means that the service counts more records than it returned: request the position again.
    if (isAtEnd === undefined && !isRestart) {
      this.#ahead.drop();
      return undefined;
    }
    this.#drift.joined(shift);
    this.#phase = { is: "reading" };
    this.#position = this.#reached = request.skip + page.data.length;
    this.#hasEnded = isAtEnd === true || isRestart;
    this.#recent.add(next);
    this.#rounds = 0;
    if (fresh.length > 0) {
      this.#misses = this.#gone = 0;
      this.#hidden.reset();
    }
    if (!this.#hasEnded) this.#lookAhead(page);
    if (fresh.length === 0) return undefined;
    // `total`, `skip` and `limit` are the service's own. Validation has reported faults in them.
    return { ...page, data: fresh, cursor: this.#cursor(), drift: Math.abs(shift) } as WalkedPage<T>;
  }

  #cursor(): string {
    return writeCursor({
      ...this.#recent.state(idsInCursor),
      position: this.#reached,
      longest: this.#size.longest,
      query: this.#settings.query,
    });
  }

  /** Reads on without yielding, because only a later page shows which records after the known one are new. */
  #approach({ request, page, lastKnown }: Arrived<T>, age: number): void {
    if (!("search" in this.#phase)) this.#miss(request, page);
    const search = "search" in this.#phase ? this.#phase.search : new Search(request.skip, this.#size.max);
    this.#position = request.skip + lastKnown + 1;
    this.#phase = { is: "approaching", search, age };
  }

  #search({ request, page, lastKnown }: Arrived<T>, isCut: boolean): void {
    const phase = this.#phase;
    const isSearching = phase.is === "searching";
    if (lastKnown === -1) this.#drift.missed(isSearching ? 0 : this.#position - request.skip);
    const from = "search" in phase && (isSearching || isCut) ? phase.search.from : request.skip;
    const search = isSearching && !isCut ? phase.search : new Search(from, this.#size.max);
    const reached = request.skip + page.data.length;
    if (page.data.length === 0 || page.total === reached) search.endsAt(reached);
    this.#phase = { is: "searching", search };
    this.#miss(request, page);
    if (!search.next()) this.#searchAgain(from);
  }

  /** Notes that a page did not join. */
  #miss({ skip }: PageRequest, { data }: ServedPage<T>): void {
    this.#ahead.drop();
    this.#misses += 1;
    this.#farthest = Math.max(this.#farthest, skip + data.length);
    if (this.#misses > maxMisses + this.#farthest) {
      throw this.#unusable("the list changes faster than it can be read, or its order is not stable");
    }
  }

  /** Called after a search through the complete list. */
  #searchAgain(from: number): void {
    const { count, size } = this.#recent;
    this.#rounds += 1;
    if (count <= size) {
      // All yielded ids are remembered and kept, so starting again repeats no record.
      this.#recent.keep();
      this.#position = this.#settings.skip;
      this.#phase = { is: "beginning" };
    } else if (this.#rounds < maxRounds) {
      this.#phase = { is: "searching", search: new Search(from, this.#size.max) };
    } else {
      this.#phase = { is: "reading" };
      throw this.#unusable(
        `the last ${size} records read were deleted, so the position is lost. Start again`,
      );
    }
  }

  #reportOrder(): void {
    if (this.#hasReportedOrder) return;
    this.#hasReportedOrder = true;
    this.#settings.onUnstable(
      "the order of the list changes while it is read, so some records may be missed or repeated",
    );
  }

  #lookAhead({ total }: ServedPage<T>): void {
    const until = typeof total === "number" ? total : 0;
    const { next } = this.#ahead;
    if (next !== undefined && !this.#serves(next)) this.#ahead.drop();
    this.#ahead.plan(this.#drift.pagesAhead, (last) => {
      const position = last === undefined ? this.#position : last.skip + last.limit;
      return position < until ? this.#request(position) : undefined;
    });
  }

  /** Whether an already requested page continues from here, and shares enough records to be likely to join. */
  #serves({ skip, limit }: PageRequest): boolean {
    const shared = this.#position - skip;
    const enough = this.#shared(this.#position, this.#drift.enough);
    // If pages share no records, only a page that starts exactly here is usable.
    if (enough === 0) return shared === 0 && limit <= this.#size.max;
    return limit <= this.#size.max && shared >= enough && shared < limit;
  }

  #unusable(message: string): ResponseValidationError {
    const { operation } = this.#settings;
    return new ResponseValidationError(`${operation}: ${message}`, { operation, status: 200 });
  }
}
