import { Walk, type WalkedPage, type WalkSettings } from "../../src/paging/walk.ts";
import { type Item, MovingList, type MovingListOptions, type Totals } from "./moving-list.ts";
import type { MissedAndRepeated } from "./moving-walk.ts";

/** A list that changes only if `over` changes it. */
export const still = (length: number, over: Partial<MovingListOptions> = {}): MovingList =>
  new MovingList({ length, order: "oldest first", ...over });

/** A drift-safe walk over the list in pages of 200. `over` replaces settings. */
export const walkOver = (list: MovingList, over: Partial<WalkSettings<Item>> = {}): Walk<Item> =>
  new Walk<Item>({
    operation: "contacts.list",
    fetch: list.fetch,
    skip: 0,
    limit: 200,
    prefetch: undefined,
    isDriftSafe: true,
    start: undefined,
    onUnstable: () => undefined,
    onShort: () => undefined,
    ...over,
  });

/**
 * Reads a walk to its end.
 *
 * @throws Error when the walk has more than `most` pages.
 */
export const pagesOf = async (walk: Walk<Item>, most = 20_000): Promise<WalkedPage<Item>[]> => {
  const pages: WalkedPage<Item>[] = [];
  for (let page = await walk.next(); page !== undefined; page = await walk.next()) {
    pages.push(page);
    if (pages.length > most) throw new Error("the walk does not end");
  }
  return pages;
};

/** The ids of all records of the pages, in their order. */
export const idsOf = (pages: readonly WalkedPage<Item>[]): string[] =>
  pages.flatMap(({ data }) => data.map(({ id }) => id));

/** The result of `missedAndRepeated` if every record was returned once. */
export const nobody: MissedAndRepeated = { missed: [], repeated: [] };

/** How many pages a walk fetches ahead. With `undefined`, the walk decides. */
export const prefetches = [0, 1, 4, 16, undefined] as const;

/** Every way in which a service counts its records. */
export const everyTotals: readonly Totals[] = ["true", "missing", "too small", "too large", "of the page"];
