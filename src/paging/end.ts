import type { PageRequest } from "./ahead.ts";
import { idOf } from "./recent.ts";
import type { ServedPage } from "./walk-settings.ts";

const recordsUnchanged = 40;

/** What a record is told from others by: its id, or all that it holds. */
const markOf = (record: unknown): string => idOf(record) || JSON.stringify(record);

/** Notices a service that answers the same page wherever it is asked. */
export class Standstill {
  #before = { skip: 0, page: "", total: 0 };
  /** Records in pages like the one before, although they were asked for at another place. */
  #unchanged = 0;

  /** Takes note of a page; true once it has stayed the same for longer than chance explains. */
  holdsAt(skip: number, { data, total }: ServedPage<unknown>): boolean {
    // Its ends: in a list that moves, a page may well begin like the last one and end further on.
    const now = { skip, page: `${markOf(data[0])} ${data.length} ${markOf(data.at(-1))}`, total: total ?? 0 };
    const before = this.#before;
    this.#before = now;
    // Where the list has grown, the same records may well stand further back.
    const isSame = now.page === before.page && skip > before.skip && now.total <= before.total;
    this.#unchanged = isSame ? this.#unchanged + data.length : 0;
    // Fewer may be chance: as many records were added as were skipped.
    return this.#unchanged >= Math.max(2 * data.length, recordsUnchanged);
  }
}

/** What is known of the walk when a page comes. */
export interface Standing {
  readonly position: number;
  /** The longest page seen. */
  readonly longest: number;
  /** What is new in the page. */
  readonly fresh: number;
}

/** Whether nothing follows a page. */
// A total may be stale, or count only the page: a full page is believed to be the last one only once nothing follows.
const isLast = ({ skip, limit }: PageRequest, { data, total }: ServedPage<unknown>): boolean =>
  data.length === 0 || (data.length < limit && total === skip + data.length);

/** Whether a page of `length` records without anything new stands at the end of the list. */
const isStuck = ({ skip, limit }: PageRequest, length: number, { position, longest }: Standing): boolean => {
  if (skip + length > position) return false;
  // Unless the service caps its pages at what they share: then the next one is asked for with less.
  return length === limit || length < longest;
};

/** How often a page that shows nothing new is asked for again, although the service counts more records. */
const mostDoubts = 2;

/** What is told of an end that is none, or that nobody would expect. */
export interface EndNotices {
  report(message: string): void;
  unusable(message: string): Error;
}

/** Tells the end of a list, of which neither a count nor a single page is proof. */
export class ListEnd {
  readonly #limit: number;
  readonly #tell: EndNotices;
  readonly #standstill = new Standstill();
  #doubts = 0;

  /** `limit` is how many records a page was asked for by the caller. */
  constructor(limit: number, tell: EndNotices) {
    this.#limit = limit;
    this.#tell = tell;
  }

  /** How much the next page may share with the last: where the service cuts pages short, what is new may not fit. */
  get mostShared(): number {
    return this.#doubts === 0 ? Number.POSITIVE_INFINITY : mostDoubts - this.#doubts;
  }

  /**
   * Whether nothing follows the page; undefined when the service itself counts more than it showed, so that the place
   * is to be looked at once more.
   *
   * @throws when the service shows the same part of the list whatever it is asked for.
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
    this.#tell.report(
      `the list ends before the ${total} records that its total counts; what it showed was read`,
    );
    return true;
  }

  #isWhole({ skip }: PageRequest, page: ServedPage<unknown>): boolean {
    if (!this.#standstill.holdsAt(skip, page)) return false;
    const { data, total } = page;
    if (typeof total === "number" ? data.length >= total : data.length !== this.#limit) return true;
    const why = "the service answers the same page whatever skip is, so the rest cannot be read";
    throw this.#tell.unusable(why);
  }
}
