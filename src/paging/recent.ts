/** The id of a record; empty if it has none. */
export const idOf = (record: unknown): string => {
  const { id }: { id?: unknown } = Object(record);
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
};

/** Removes records that occur twice in one page; `ids` are the ids of the records, empty for a record without one. */
export const onceEach = <T>(records: readonly T[], ids: readonly string[]): T[] => {
  const seen = new Set(ids);
  return records.filter((_record, at) => ids[at] === "" || seen.delete(ids[at] ?? ""));
};

/**
 * The ids yielded last, as many as in ten pages. That is enough to find the position again after earlier records were
 * added or removed, and limits the memory of an export of any size.
 */
export class RecentIds {
  readonly #capacity: number;
  /** id → the position at which it was yielded. */
  readonly #places = new Map<string, number>();
  /** Never forgotten: the walk began again, and comes to these records once more, however many are new before them. */
  #kept: ReadonlySet<string>;
  #next = 0;

  constructor(capacity: number, ids: readonly string[] = [], kept: readonly string[] = []) {
    this.#capacity = capacity;
    this.#kept = new Set(kept);
    this.add([...kept, ...ids]);
  }

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** How many are remembered besides those that are kept. */
  get size(): number {
    return this.#places.size - this.#kept.size;
  }

  get kept(): readonly string[] {
    return [...this.#kept];
  }

  /** Keeps all ids that are remembered now. */
  keep(): void {
    this.#kept = new Set(this.#places.keys());
  }

  /** Remembers ids; a record without one (an empty id) cannot be recognized. */
  add(ids: readonly string[]): void {
    for (const id of ids) {
      if (id === "") continue;
      this.#places.delete(id);
      this.#places.set(id, this.#next++);
    }
    for (const id of this.#places.keys()) {
      if (this.size <= this.#capacity) break;
      if (!this.#kept.has(id)) this.#places.delete(id);
    }
  }

  /** The last `count` ids, oldest first. */
  last(count: number): string[] {
    return [...this.#places.keys()].slice(-count);
  }

  /** The index of the last id that was yielded before; -1 if there is none. */
  lastKnownIn(ids: readonly string[]): number {
    return ids.findLastIndex((id) => this.#places.has(id));
  }

  /** How many records were yielded after this one; infinite if unknown. */
  ageOf(id: string): number {
    const place = this.#places.get(id);
    return place === undefined ? Number.POSITIVE_INFINITY : this.#next - 1 - place;
  }

  /** Whether the known ids are in the order in which they were yielded. */
  standsInOrder(ids: readonly string[]): boolean {
    let before = -1;
    return ids.every((id) => {
      const place = this.#places.get(id);
      if (place === undefined) return true;
      const isLater = place > before;
      before = place;
      return isLater;
    });
  }
}
