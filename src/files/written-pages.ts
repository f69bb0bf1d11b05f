/** A place in an export: everything up to a page, and what is written of what follows it. */
export interface ExportPosition {
  /** The cursor of the last page that is written as a whole; null before the first. */
  readonly cursor: string | null;
  /** Ids that are written although they come after it. */
  readonly beyond: readonly string[];
}

interface Identified {
  readonly id: string;
}

interface OpenPage {
  readonly cursor: string;
  readonly ids: readonly string[];
  /** Which of them this run gives to the file. */
  readonly fresh: readonly string[];
}

/**
 * Follows pages into a file that takes records in blocks, which end anywhere in a page.
 *
 * Holds the pages between reading and writing, and the ids of less than one page beyond.
 */
export class WrittenPages {
  #cursor: string | null;
  readonly #beyond: Set<string>;
  #open: OpenPage[] = [];
  /** Records of this run that came before the first open page. */
  #before = 0;

  constructor(start: ExportPosition) {
    this.#cursor = start.cursor;
    this.#beyond = new Set(start.beyond);
  }

  /** Takes a page that was read; gives the records of it that the file does not have. */
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

  /** Where the export stands when the file has this many records of this run. */
  written(records: number): ExportPosition {
    let [page] = this.#open;
    while (page !== undefined && this.#before + page.fresh.length <= records) {
      this.#cursor = page.cursor;
      this.#before += page.fresh.length;
      // Only those of whole pages: one of an earlier run may stand on a later page by now.
      for (const id of page.ids) this.#beyond.delete(id);
      this.#open = this.#open.slice(1);
      [page] = this.#open;
    }
    const begun = page?.fresh.slice(0, records - this.#before) ?? [];
    return { cursor: this.#cursor, beyond: [...this.#beyond, ...begun] };
  }
}
