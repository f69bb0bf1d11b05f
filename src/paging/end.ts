import type { PageRequest } from "./ahead.ts";
import { isLast, type ServedPage } from "./page-size.ts";
import { idOf } from "./recent.ts";

const recordsUnchanged = 80;

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
    // Fewer unchanged records can be chance: exactly as many records may have been added as were skipped.
    return this.#unchanged >= Math.max(2 * data.length, recordsUnchanged);
  }
}

/** The state of the iteration when a page arrives. */
export interface Standing {
  readonly position: number;
  /** The length of the longest page. */
  readonly longest: number;
  /** The number of new records in the page. */
  readonly fresh: number;
}

/** Whether a page of `length` records without new ones is at the end of the list. */
const isStuck = ({ skip, limit }: PageRequest, length: number, { position, longest }: Standing): boolean => {
  if (skip + length > position) return false;
  // If the service limits pages to the length of their overlap, the walk requests the next page with less overlap
  // instead.
  return length === limit || length < longest;
};

/** How many times to request a page without new records again if the service counts more records. */
const maxDoubts = 2;

/** Creates the errors for an end that contradicts the counts, or that is unexpected. */
export interface EndNotices {
  /**
   * Reports a list that ends below the service's count. Returns the error to throw; undefined if a report is enough.
   */
  short(missing: number, total: number): Error | undefined;
  unusable(message: string): Error;
}

/** Decides where a list ends. Neither a count nor a single page proves it. */
export class ListEnd {
  readonly #limit: number;
  readonly #notices: EndNotices;
  readonly #standstill = new Standstill();
  #doubts = 0;

  /** @param limit - the number of records per page that the caller requested. */
  constructor(limit: number, notices: EndNotices) {
    this.#limit = limit;
    this.#notices = notices;
  }

  /**
   * The maximum number of records that the next page may share with the last one. If the service shortens pages, new
   * records might otherwise not fit.
   */
  get maxShared(): number {
    return this.#doubts === 0 ? Number.POSITIVE_INFINITY : maxDoubts - this.#doubts;
  }

  /**
   * Whether no records follow the page. Undefined if the service counts more records than it returned; request the
   * position again in that case.
   *
   * @throws when the service returns the same part of the list for every position. Also throws the error of `short`.
   */
  isAt(request: PageRequest, page: ServedPage<unknown>, standing: Standing): boolean | undefined {
    const { data, total } = page;
    if (standing.fresh > 0) this.#doubts = 0;
    const isStill = standing.fresh === 0 && isStuck(request, data.length, standing);
    if (!isStill && !isLast(request, page)) return this.#isCompleteList(request, page);
    if (typeof total !== "number" || total <= request.skip + data.length) return true;
    if (this.#doubts < maxDoubts) {
      this.#doubts += 1;
      return undefined;
    }
    const fault = this.#notices.short(total - request.skip - data.length, total);
    if (fault !== undefined) throw fault;
    return true;
  }

  #isCompleteList({ skip }: PageRequest, page: ServedPage<unknown>): boolean {
    if (!this.#standstill.holdsAt(skip, page)) return false;
    const { data, total } = page;
    if (typeof total === "number" ? data.length >= total : data.length !== this.#limit) return true;
    const why = "the service ignores `skip` and returns the same page every time";
    throw this.#notices.unusable(why);
  }
}
