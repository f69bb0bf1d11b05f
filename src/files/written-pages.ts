/** A position in an export: everything up to a page, and the written records after it. */
export interface ExportPosition {
  /** The cursor of the last completely written page; null before the first. */
  readonly cursor: string | null;
  /** Ids of later records that are already written. */
  readonly beyond: readonly string[];
}

interface Identified {
  readonly id: string;
}

interface OpenPage {
  readonly cursor: string;
  readonly ids: readonly string[];
  /** The records that this run writes to the file. */
  readonly fresh: readonly string[];
}

/**
 * Follows pages into a file that takes records in blocks, which may end anywhere in a page.
 *
 * Holds the pages between reading and writing, and the ids of less than one page beyond.
 */
export class WrittenPages {
  #cursor: string | null;
  readonly #beyond: Set<string>;
  #open: OpenPage[] = [];
  /** Records of this run before the first open page. */
  #before = 0;

  constructor(start: ExportPosition) {
    this.#cursor = start.cursor;
    this.#beyond = new Set(start.beyond);
  }

  /** Adds a page; returns its records that the file does not have. */
  read<T extends Identified>({
    cursor,
    data,
  }: {
    readonly cursor: string;
    readonly data: readonly T[];
  }): T[] {
    const fresh = data.filter(({ id }) => !this.#beyond.has(id));
    this.#open.push({ cursor, ids: data.map(({ id }) => id), fresh: fresh.map(({ id }) => id) });
    return fresh;
  }

  /** The position of the export when the file has this many records of this run. */
  written(records: number): ExportPosition {
    let [page] = this.#open;
    while (page !== undefined && this.#before + page.fresh.length <= records) {
      this.#cursor = page.cursor;
      this.#before += page.fresh.length;
      // Only those of complete pages: a record of an earlier run may be on a later page by now.
      for (const id of page.ids) this.#beyond.delete(id);
      this.#open = this.#open.slice(1);
      [page] = this.#open;
    }
    const begun = page?.fresh.slice(0, records - this.#before) ?? [];
    return { cursor: this.#cursor, beyond: [...this.#beyond, ...begun] };
  }
}
