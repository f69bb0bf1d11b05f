import type { CursorState } from "./cursor.ts";

/** The id of a record; empty if it has none. */
export const idOf = (record: unknown): string => {
  const { id }: { id?: unknown } = Object(record);
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
};

/** Removes records that occur twice in one page; those without an id may. */
export const onceEach = <T>(records: readonly T[]): T[] => {
  const left = new Set(records.map(idOf));
  return records.filter((record) => idOf(record) === "" || left.delete(idOf(record)));
};

/** How many ids show that the list starts again: a few records may be changed in a row and move to the end. */
const idsCompared = 8;

/**
 * The ids yielded last, as many as in ten pages. That is enough to find the position again after earlier records were
 * added or removed, and limits the memory of an export of any size.
 */
export class RecentIds {
  readonly #capacity: number;
  /** id → the position at which it was yielded. */
  readonly #indexes = new Map<string, number>();
  /** Kept for good: after a restart the walk meets these records again. */
  #kept: ReadonlySet<string>;
  #next = 0;
  /** The first yielded ids. If they come again, the service takes `skip` modulo the length of the list. */
  #first: string[] = [];
  /** The number of records yielded since the walk last began. */
  count = 0;

  /** @param place - what a cursor carries besides the last ids. */
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

  /** How many are remembered besides those that are kept. */
  get size(): number {
    return this.#indexes.size - this.#kept.size;
  }

  get kept(): readonly string[] {
    return [...this.#kept];
  }

  /** What a cursor carries: the last `ids`, and what tells a restart of the walk or of the list. */
  state(ids: number): Pick<CursorState, "read" | "recent" | "kept" | "first"> {
    return { read: this.count, recent: this.last(ids), kept: this.kept, first: this.#first };
  }

  /** Keeps all ids that are remembered now: the walk begins again. */
  keep(): void {
    this.#kept = new Set(this.#indexes.keys());
    this.#first = [];
    this.count = 0;
  }

  /** Remembers ids; a record without one (an empty id) cannot be recognized. */
  add(ids: readonly string[]): void {
    this.count += ids.length;
    for (const id of ids) {
      if (id === "") continue;
      this.#indexes.delete(id);
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

  /** The index of the last id that was yielded before; -1 if there is none. */
  lastKnownIn(ids: readonly string[]): number {
    return ids.findLastIndex((id) => this.#indexes.has(id));
  }

  /** How many records were yielded after this one; infinite if unknown. */
  ageOf(id: string): number {
    const index = this.#indexes.get(id);
    return index === undefined ? Number.POSITIVE_INFINITY : this.#next - 1 - index;
  }

  /** Whether the known ids are in the order in which they were yielded. */
  standsInOrder(ids: readonly string[]): boolean {
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
   * Where in a page the list starts again; undefined if it does not. A restart comes after the last yielded record,
   * while records added at the front move the first ones to before it.
   *
   * @param isJoined - whether the page must show the last yielded record.
   */
  restartIn(ids: readonly string[], isJoined: boolean): number | undefined {
    const last = ids.indexOf(this.last(1)[0] ?? "none");
    if (isJoined && last === -1 && this.count > 0) return undefined;
    const isFirstPage = this.#first.length === 0;
    const first = isFirstPage ? ids.slice(0, idsCompared) : this.#first;
    const at = ids.indexOf(first[0] || "none", isFirstPage ? 1 : last + 1);
    if (at === -1) return undefined;
    // A list shorter than the compared ids starts again before its end.
    const period = isFirstPage ? at : first.length;
    const shown = ids.slice(at, at + first.length);
    // One record alone is not enough: it may have moved to the end.
    const isEnough = shown.length > 1 || period === 1;
    return isEnough && shown.every((id, index) => id === first[index % period]) ? at : undefined;
  }
}
