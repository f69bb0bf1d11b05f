import { Spool } from "./spool.ts";

/** What an import would do, or has done, with one row. */
export interface PlannedRow {
  /** Its place in the source, counted from 0. */
  readonly index: number;
  /** Its line in the file, where the source is one. */
  readonly line?: number | undefined;
  readonly result: "create" | "update" | "unchanged" | "skipped" | "refused";
  /** The fields that would change; of an update only. */
  readonly fields?: readonly string[] | undefined;
  /** Why it is refused or skipped. */
  readonly reason?: string | undefined;
}

const mostInMemory = 4 * 1024 * 1024;
const longestReason = 10_000;

/** The plan of a dry import, an entry a row, in their order; a long one lies in a temporary file. */
export class ImportPlan implements Iterable<PlannedRow> {
  readonly #spool = new Spool(mostInMemory);
  readonly #lengths: number[] = [];
  readonly #places: number[] = [];

  /** How many rows it tells of. */
  get length(): number {
    return this.#places.length;
  }

  /** Adds a row; the import calls it. */
  add(row: PlannedRow): void {
    const text = JSON.stringify({ ...row, reason: row.reason?.slice(0, longestReason) });
    const bytes = Buffer.from(text, "utf8");
    this.#places.push(this.#spool.add(bytes));
    this.#lengths.push(bytes.length);
  }

  *[Symbol.iterator](): Iterator<PlannedRow> {
    for (const [row, at] of this.#places.entries())
      yield JSON.parse(this.#spool.read(at, this.#lengths[row] ?? 0).toString("utf8"));
  }
}
