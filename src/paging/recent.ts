/** What a record is known again by; empty when it has no id. */
export const idOf = (record: unknown): string => {
  const { id }: { id?: unknown } = Object(record);
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
};

/** Leaves out what stands in one page twice; `ids` are those of the records, empty for one without. */
export const onceEach = <T>(records: readonly T[], ids: readonly string[]): T[] => {
  const seen = new Set(ids);
  return records.filter((_record, at) => ids[at] === "" || seen.delete(ids[at] ?? ""));
};

/**
 * The ids yielded last, as many as ten pages hold: enough to find one's place again after records before it
 * were added or removed, and no more, so that an export of any size takes the same memory.
 */
export class RecentIds {
  readonly #capacity: number;
  /** id → the place at which it was yielded. */
  readonly #places = new Map<string, number>();
  #next = 0;

  constructor(capacity: number, ids: readonly string[] = []) {
    this.#capacity = capacity;
    this.add(ids);
  }

  get size(): number {
    return this.#places.size;
  }

  /** Remembers ids; a record without one (an empty id) cannot be known again. */
  add(ids: readonly string[]): void {
    for (const id of ids) {
      if (id === "") continue;
      this.#places.delete(id);
      this.#places.set(id, this.#next++);
    }
    for (const id of this.#places.keys()) {
      if (this.#places.size <= this.#capacity) break;
      this.#places.delete(id);
    }
  }

  /** The last `count` ids, oldest first. */
  last(count: number): string[] {
    return [...this.#places.keys()].slice(-count);
  }

  /** The index of the last id that was yielded before; -1 when there is none. */
  lastKnownIn(ids: readonly string[]): number {
    return ids.findLastIndex((id) => this.#places.has(id));
  }

  /** How many were yielded after this one; infinite when it is not known. */
  ageOf(id: string): number {
    const place = this.#places.get(id);
    return place === undefined ? Number.POSITIVE_INFINITY : this.#next - 1 - place;
  }

  /** Whether the known ones stand in the order in which they were yielded. */
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
