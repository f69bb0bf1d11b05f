import type { CursorState } from "./cursor.ts";

/** The id of a record; empty if it has none. */
export const idOf = (record: unknown): string => {
  const { id }: { id?: unknown } = Object(record);
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
};

/** Removes records that occur twice on one page, except records without an id. */
const onceEach = <T>(records: readonly T[]): T[] => {
  const left = new Set(records.map(idOf));
  return records.filter((record) => idOf(record) === "" || left.delete(idOf(record)));
};

/** How many ids in a row prove that the list starts again. Fewer could be changed records that moved to the end. */
const idsCompared = 8;

/**
 * Remembers the last yielded ids, as many as ten pages contain. They are enough to find the position again after
 * earlier records were added or removed, and they limit the memory of an export of any size.
 */
export class RecentIds {
  readonly #capacity: number;
  /** The remembered ids, numbered in the order in which they were yielded. */
  readonly #indexes = new Map<string, number>();
  /** Ids that are never forgotten. When the walk starts again from the beginning, it meets their records again. */
  #kept: ReadonlySet<string>;
  #next = 0;
  /** The first yielded ids. If they appear again, the service takes `skip` modulo the length of the list. */
  #first: string[] = [];
  /** The number of records yielded since the walk last started from the beginning. */
  count = 0;

  /** @param state - the parts of a cursor besides the last ids. */
  constructor(
    capacity: number,
    ids: readonly string[] = [],
    { kept = [], first = [], read = 0 }: Partial<CursorState> = {},
  ) {
    this.#capacity = capacity;
    this.#kept = new Set(kept);
    this.add([...kept, ...ids]);
    this.#first = [...first];
    this.count = read;
  }

  get isEmpty(): boolean {
    return this.#indexes.size === 0;
  }

  /** The number of remembered ids that are not kept. */
  get size(): number {
    return this.#indexes.size - this.#kept.size;
  }

  /** How many records of the list were yielded at most. */
  get yielded(): number {
    return this.count + this.#kept.size;
  }

  get kept(): readonly string[] {
    return [...this.#kept];
  }

  /** The parts of a cursor that the constructor reads. `recent` has the last `ids` ids. */
  state(ids: number): Pick<CursorState, "read" | "recent" | "kept" | "first"> {
    return { read: this.count, recent: this.last(ids), kept: this.kept, first: this.#first };
  }

  /** Never forgets the ids that are remembered now. Called when the walk starts again from the beginning. */
  keep(): void {
    this.#kept = new Set(this.#indexes.keys());
    this.#first = [];
    this.count = 0;
  }

  /** Remembers ids. An empty id (a record without one) can't be recognized later. A known id moves to the end. */
  add(ids: readonly string[]): void {
    for (const id of ids) {
      if (!this.#indexes.delete(id)) this.count += 1;
      if (id === "") continue;
      this.#indexes.set(id, this.#next++);
      if (this.#first.length < idsCompared && !this.#first.includes(id)) this.#first.push(id);
    }
    for (const id of this.#indexes.keys()) {
      if (this.size <= this.#capacity) break;
      if (!this.#kept.has(id)) this.#indexes.delete(id);
    }
  }

  /** The last `count` ids, oldest first. */
  last(count: number): string[] {
    return [...this.#indexes.keys()].slice(-count);
  }

  /**
   * The index of the id that was yielded last; -1 if there is none. A known id after it belongs to a record that has
   * moved.
   */
  lastKnownIn(ids: readonly string[]): number {
    const indexes = ids.map((id) => this.#indexes.get(id) ?? -1);
    const latest = Math.max(-1, ...indexes);
    return latest === -1 ? -1 : indexes.lastIndexOf(latest);
  }

  /**
   * The records of a page that were not yielded before, once each. `next` has these ids, and the known ones between them
   * and after them. Records before the first known one may have been yielded, because a cursor has only the last ids.
   *
   * @param isDriftSafe - if false, no record counts as known.
   */
  newIn<T>(records: readonly T[], isDriftSafe: boolean): { readonly fresh: T[]; readonly next: string[] } {
    const isKnown = (record: T): boolean => isDriftSafe && this.#indexes.has(idOf(record));
    const shown = records.slice(records.findIndex(isKnown) + 1);
    const fresh = onceEach(shown.filter((record) => !isKnown(record)));
    const next = fresh[0] === undefined ? [] : shown.slice(shown.indexOf(fresh[0])).map(idOf);
    return { fresh, next };
  }

  /** The number of records yielded after this one; infinite if the id is not remembered. */
  ageOf(id: string): number {
    const index = this.#indexes.get(id);
    return index === undefined ? Number.POSITIVE_INFINITY : this.#next - 1 - index;
  }

  /** Whether the known ids are in the order in which they were yielded. */
  areInOrder(ids: readonly string[]): boolean {
    let before = -1;
    return ids.every((id) => {
      const index = this.#indexes.get(id);
      if (index === undefined) return true;
      const isLater = index > before;
      before = index;
      return isLater;
    });
  }

  /**
   * The index at which the list starts again on a page; undefined if it does not. A restart follows the last yielded
   * record. If records were added at the front instead, the first records appear before the last yielded one.
   *
   * @param mustOverlap - whether a restart counts only on a page with the last yielded record.
   */
  restartIn(ids: readonly string[], mustOverlap: boolean): number | undefined {
    const last = ids.indexOf(this.last(1)[0] ?? "none");
    if (mustOverlap && last === -1 && this.count > 0) return undefined;
    const isFirstPage = this.#first.length === 0;
    const first = isFirstPage ? ids.slice(0, idsCompared) : this.#first;
    const at = ids.indexOf(first[0] || "none", isFirstPage ? 1 : last + 1);
    if (at === -1) return undefined;
    // If the first page contains a restart, compare the ids modulo the length of the list.
    const period = isFirstPage ? at : first.length;
    const shown = ids.slice(at, at + first.length);
    // A single record is not enough, because it may have moved to the end.
    const isEnough = shown.length > 1 || period === 1;
    return isEnough && shown.every((id, index) => id === first[index % period]) ? at : undefined;
  }
}
