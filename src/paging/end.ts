import type { PageRequest } from "./ahead.ts";
import { isLast, type ServedPage } from "./page-size.ts";
import { idOf } from "./recent.ts";

const recordsUnchanged = 80;

/** What identifies a record: its id, or its whole content. */
const markOf = (record: unknown): string => idOf(record) || JSON.stringify(record);

/** Detects a service that returns the same page for every position. */
export class Standstill {
  #before = { skip: 0, page: "", total: 0 };
  /** Records in pages that equal the previous one, although another position was requested. */
  #unchanged = 0;

  /** Records a page. Returns true if it has stayed the same for longer than by chance. */
  holdsAt(skip: number, { data, total }: ServedPage<unknown>): boolean {
    // First and last record: in a list that moves, a page may start like the previous one and end further on.
    const now = { skip, page: `${markOf(data[0])} ${data.length} ${markOf(data.at(-1))}`, total: total ?? 0 };
    const before = this.#before;
    this.#before = now;
    // If the list has grown, the same records may be further back.
    const isSame = now.page === before.page && skip > before.skip && now.total <= before.total;
    this.#unchanged = isSame ? this.#unchanged + data.length : 0;
    // Fewer may be chance: as many records were added as were skipped.
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
  // Unless the service limits its pages to what they share: then the next page is requested with less overlap.
  return length === limit || length < longest;
};

/** How often a page without new records is requested again, if the service counts more records. */
const mostDoubts = 2;

/** Notices about an end that contradicts the counts, or that is unexpected. */
export interface EndNotices {
  /** A list that ends below the service's count. Returns the error to throw; undefined if it was reported. */
  short(missing: number, total: number): Error | undefined;
  unusable(message: string): Error;
}

/** Decides where a list ends. Neither a count nor a single page is proof. */
export class ListEnd {
  readonly #limit: number;
  readonly #tell: EndNotices;
  readonly #standstill = new Standstill();
  #doubts = 0;

  /** `limit` is how many records per page the caller asked for. */
  constructor(limit: number, tell: EndNotices) {
    this.#limit = limit;
    this.#tell = tell;
  }

  /**
   * How many records the next page may share with the last one: if the service shortens pages, new records may not fit.
   */
  get mostShared(): number {
    return this.#doubts === 0 ? Number.POSITIVE_INFINITY : mostDoubts - this.#doubts;
  }

  /**
   * Whether nothing follows the page. Undefined if the service counts more than it showed; the position is then
   * requested once more.
   *
   * @throws when the service returns the same part of the list for every position, and what `short` returns.
   */
  isAt(request: PageRequest, page: ServedPage<unknown>, standing: Standing): boolean | undefined {
    const { data, total } = page;
    if (standing.fresh > 0) this.#doubts = 0;
    const isStill = standing.fresh === 0 && isStuck(request, data.length, standing);
    if (!isStill && !isLast(request, page)) return this.#isWhole(request, page);
    if (typeof total !== "number" || total <= request.skip + data.length) return true;
    if (this.#doubts < mostDoubts) {
      this.#doubts += 1;
      return undefined;
    }
    const fault = this.#tell.short(total - request.skip - data.length, total);
    if (fault !== undefined) throw fault;
    return true;
  }

  #isWhole({ skip }: PageRequest, page: ServedPage<unknown>): boolean {
    if (!this.#standstill.holdsAt(skip, page)) return false;
    const { data, total } = page;
    if (typeof total === "number" ? data.length >= total : data.length !== this.#limit) return true;
    const why = "the service ignores `skip` and returns the same page every time";
    throw this.#tell.unusable(why);
  }
}
