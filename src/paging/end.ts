import type { PageRequest } from "./ahead.ts";
import { isLast, type ServedPage } from "./page-size.ts";
import { idOf } from "./recent.ts";

/** The fewest unchanged records that prove that the service repeats a page. */
const minUnchanged = 80;

/** A text that identifies a record: its id, or its complete content. */
const markOf = (record: unknown): string => idOf(record) || JSON.stringify(record);

/** Detects a service that returns the same page for every position. */
export class Standstill {
  #previous = { skip: 0, page: "", total: 0 };
  /** The number of records in pages that equal the previous page, although another position was requested. */
  #unchanged = 0;

  /** Notes a page. Returns true if the page has been the same for longer than chance explains. */
  holdsAt(skip: number, { data, total }: ServedPage<unknown>): boolean {
    // Compare the first and last records: in a list that moves, a page can start like the previous one and end
    // differently.
    const now = { skip, page: `${markOf(data[0])} ${data.length} ${markOf(data.at(-1))}`, total: total ?? 0 };
    const previous = this.#previous;
    this.#previous = now;
    // If the list has grown, the same records may legitimately be at a later position.
    const isSame = now.page === previous.page && skip > previous.skip && now.total <= previous.total;
    this.#unchanged = isSame ? this.#unchanged + data.length : 0;
    // Fewer unchanged records can be chance: other programs may have added exactly as many records at the front as
    // `skip` advanced.
    return this.#unchanged >= Math.max(2 * data.length, minUnchanged);
  }
}

/** The state of the iteration when a page arrives. */
export interface WalkState {
  readonly position: number;
  /** The length of the longest page. */
  readonly longest: number;
  /** The number of new records in the page. */
  readonly fresh: number;
  /**
   * The number of records that were yielded before this page. Set only if the order of the list has changed, because
   * the position then does not show how many records were yielded.
   */
  readonly yielded?: number | undefined;
}

/** Whether a page of `length` records, none of them new, shows that the list has ended. */
const hasEnded = (
  { skip, limit }: PageRequest,
  length: number,
  { position, longest }: WalkState,
): boolean => {
  // The page reaches beyond the position, and still has no new records. A later page may have some.
  if (skip + length > position) return false;
  // A page as long as the longest one, but shorter than requested, may have been cut off after the overlap, so
  // it does not prove an end. The walk requests the next page with less overlap.
  return length === limit || length < longest;
};

/** The smallest shift that the count can contradict. A smaller one may be records added in front while others are deleted. */
const minMoved = 20;

/** How many times to request a page without new records again if the service counts more records. */
const maxDoubts = 2;

/** How a walk reports an end below the service's count, and a list that it cannot read. */
export interface EndNotices {
  /**
   * Called when the list ends below the service's count. Returns the error to throw, or reports the missing records
   * and returns undefined.
   */
  short(missing: number, total: number): Error | undefined;
  /** Creates the error for a list that cannot be read. */
  unusable(message: string): Error;
}

/** Decides where a list ends. Neither a count nor a single page proves it. */
export class ListEnd {
  readonly #limit: number;
  readonly #notices: EndNotices;
  readonly #standstill = new Standstill();
  #doubts = 0;
  /** The service's latest count, for pages without one: a refused position beyond the end, or a gateway's empty page. */
  #total: number | undefined;
  /** The service's count when it last returned new records, and by how many positions the list has moved back since. */
  #totalAtFresh: number | undefined;
  #movedBack = 0;

  /** @param limit - the number of records per page that the caller requested. */
  constructor(limit: number, notices: EndNotices) {
    this.#limit = limit;
    this.#notices = notices;
  }

  /**
   * The maximum number of records that the next page may share with the last one. There is no maximum at first. Each
   * time the walk requests a doubtful end again, the maximum falls: to one record, then to none. The fewer records both
   * pages share, the more new records fit on a shortened page.
   */
  get maxShared(): number {
    return this.#doubts === 0 ? Number.POSITIVE_INFINITY : maxDoubts - this.#doubts;
  }

  /** Whether the service's latest count says that the list ends exactly before this position. */
  isCountedTo(position: number): boolean {
    return this.#total === position;
  }

  /**
   * Notes by how many positions the list moved to the front; negative if it moved back. Returns whether the service's
   * count contradicts this. Records that were added in front move the others back and raise the count. If the count
   * stays, the records have moved within the list.
   */
  refutes(shift: number, { total }: ServedPage<unknown>): boolean {
    this.#movedBack -= shift;
    const before = this.#totalAtFresh;
    if (typeof total !== "number" || before === undefined) return false;
    return this.#movedBack >= minMoved && total - before < this.#movedBack / 2;
  }

  /**
   * Whether the list ends with the page. Undefined if the service counts more records than it returned: the caller must
   * request the position again.
   *
   * @throws when the service returns the same part of the list for every position. Also throws the error of `short`.
   */
  isAt(request: PageRequest, page: ServedPage<unknown>, state: WalkState): boolean | undefined {
    const { data } = page;
    if (typeof page.total === "number") this.#total = page.total;
    const total = this.#total;
    if (state.fresh > 0) {
      this.#doubts = this.#movedBack = 0;
      this.#totalAtFresh = total;
    }
    const isOver = state.fresh === 0 && hasEnded(request, data.length, state);
    if (!isOver && !isLast(request, page)) return this.#isCompleteList(request, page);
    const reached = request.skip + data.length;
    const certain = Math.min(reached, (state.yielded ?? reached) + state.fresh);
    if (typeof total !== "number" || total <= certain) return true;
    // Yield the new records before an error.
    if (total <= reached && state.fresh > 0) return false;
    if (total > reached && this.#doubts < maxDoubts) {
      this.#doubts += 1;
      return undefined;
    }
    const fault = this.#notices.short(total - certain, total);
    if (fault !== undefined) throw fault;
    return true;
  }

  /**
   * Whether the service returns the complete list for every position.
   *
   * @throws the error `unusable` if it returns only a part of the list for every position.
   */
  #isCompleteList({ skip }: PageRequest, page: ServedPage<unknown>): boolean {
    if (!this.#standstill.holdsAt(skip, page)) return false;
    const { data, total } = page;
    // Without a total, a page of exactly the requested length may be a part of the list.
    if (typeof total === "number" ? data.length >= total : data.length !== this.#limit) return true;
    const why =
      "the service ignores `skip` and returns the same page every time; a cache in front of it may leave out the query";
    throw this.#notices.unusable(why);
  }
}
