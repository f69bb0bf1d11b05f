import type { Page } from "../schemas/common.ts";
import { type PageRequest, PagesAhead } from "./ahead.ts";
import { type Place, writeCursor } from "./cursor.ts";
import { RecentIds } from "./recent.ts";

/** A page of a walk over a whole list: `data` holds only records not yielded before. */
export interface WalkedPage<T> extends Page<T> {
  /** Give it to `list(query, { cursor })` to go on after this page, here or in another process. */
  readonly cursor: string;
  /** By how many places the list had moved since the page before. */
  readonly drift: number;
}

export interface WalkSettings<T> {
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
const largestLimit = 200;
const idsInCursor = 50;

const idOf = (record: unknown): string =>
  typeof record === "object" && record !== null && "id" in record && typeof record.id === "string"
    ? record.id
    : "";

/**
 * Walks a list by skip and limit while others add and remove records.
 *
 * Each page begins a little before the end of the last one. Where the last known record stands in it tells by how
 * much the list has moved; everything behind that record is new, whatever the order, as long as it is stable.
 * When no known record is in the page, the walk goes back a page at a time until it meets one.
 */
export class Walk<T> {
  readonly #settings: WalkSettings<T>;
  readonly #ahead: PagesAhead<Page<T>>;
  #recent: RecentIds;
  #limit: number;
  /** How many records came before the next one, as far as known. */
  #position: number;
  /** The same when the last page was accepted; a search moves only the position. */
  #reached: number;
  #hasEnded = false;
  #hasReportedOrder = false;
  #search: { readonly from: number; direction: "back" | "forward" } | undefined;

  constructor(settings: WalkSettings<T>) {
    this.#settings = settings;
    this.#limit = settings.limit;
    this.#position = settings.place?.position ?? settings.skip;
    this.#reached = this.#position;
    this.#recent = new RecentIds(2 * largestLimit, settings.place?.recent);
    this.#ahead = new PagesAhead(settings.fetch, settings.prefetch);
  }

  /** The next page with anything new in it; undefined at the end. After a failure it asks for the same page again. */
  async next(): Promise<WalkedPage<T> | undefined> {
    while (!this.#hasEnded) {
      const request = this.#request(this.#position);
      const page = await this.#ahead.take(request);
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
    const shared = this.#settings.isDriftSafe && this.#recent.size > 0 ? Math.min(overlap, position) : 0;
    return { skip: position - shared, limit: Math.min(largestLimit, this.#limit + shared) };
  }

  #accept(request: PageRequest, page: Page<T>): WalkedPage<T> | undefined {
    const { data } = page;
    const ids = data.map(idOf);
    const isAnchored = this.#settings.isDriftSafe && this.#recent.size > 0;
    const known = isAnchored ? this.#recent.lastKnownIn(ids) : -1;
    if (isAnchored && known === -1) {
      this.#lookElsewhere(request, page);
      return undefined;
    }
    if (isAnchored) this.#watchOrder(ids);
    const drift = isAnchored ? Math.abs(request.skip + known + 1 - this.#reached) : 0;
    const fresh = data.slice(known + 1);
    this.#search = undefined;
    this.#recent.add(ids.slice(known + 1));
    this.#position = request.skip + data.length;
    this.#reached = this.#position;
    this.#hasEnded = this.#isLast(request, page, fresh.length);
    if (!this.#hasEnded) this.#lookAhead(request, page);
    if (fresh.length === 0) return undefined;
    const cursor = writeCursor({ position: this.#position, recent: this.#recent.last(idsInCursor) });
    return { ...page, data: fresh, cursor, drift };
  }

  /** Moves to where a known record may be: back a page at a time, then forward from the old place. */
  #lookElsewhere({ skip }: PageRequest, { data, total }: Page<T>): void {
    this.#search ??= { from: skip, direction: "back" };
    const search = this.#search;
    if (search.direction === "back" && skip > 0) {
      this.#position = Math.max(0, skip - this.#limit) + overlap;
      return;
    }
    if (search.direction === "back") {
      // Nowhere before the old place: so much was added that it lies behind it now, or every known record is gone.
      search.direction = "forward";
      this.#position = search.from + this.#limit;
      return;
    }
    const isEnd = data.length === 0 || (typeof total === "number" && skip + data.length >= total);
    if (!isEnd) {
      this.#position = skip + data.length + overlap;
      return;
    }
    this.#settings.onUnstable(
      "every record known from the last pages is gone: some may be missed or repeated",
    );
    this.#recent = new RecentIds(2 * largestLimit);
    this.#position = search.from;
    this.#search = undefined;
  }

  #watchOrder(ids: readonly string[]): void {
    if (this.#hasReportedOrder || this.#recent.standsInOrder(ids)) return;
    this.#hasReportedOrder = true;
    this.#settings.onUnstable(
      "the order of the list changes while it is read: some may be missed or repeated",
    );
  }

  #isLast({ skip, limit }: PageRequest, { data, total }: Page<T>, fresh: number): boolean {
    const reached = skip + data.length;
    const isShort = data.length < limit;
    if (data.length === 0 || (fresh === 0 && (isShort || typeof total !== "number"))) return true;
    // A total below what has come is a lie; then only an empty or short page ends the list.
    return typeof total === "number" && (reached === total || (reached > total && isShort));
  }

  #lookAhead({ limit }: PageRequest, { data, total }: Page<T>): void {
    // A service that gives shorter pages than asked for sets the pace.
    if (data.length < limit) this.#limit = Math.max(1, Math.min(this.#limit, data.length));
    if (typeof total !== "number") return;
    const requests: PageRequest[] = [];
    let position = this.#position;
    while (requests.length < this.#ahead.depth && position < total) {
      const request = this.#request(position);
      requests.push(request);
      position = request.skip + request.limit;
    }
    this.#ahead.prepare(requests);
  }
}
