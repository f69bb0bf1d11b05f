import { Spool } from "./spool.ts";

/** What an import would do, or did, with one row. */
export interface PlannedRow {
  /** The position in the source, counted from 0. */
  readonly index: number;
  /** The line in the file, if the source is one. */
  readonly line?: number | undefined;
  readonly result: "create" | "update" | "unchanged" | "skipped" | "refused";
  /** The fields that would change; only for an update. */
  readonly fields?: readonly string[] | undefined;
  /** Why the row is refused or skipped. */
  readonly reason?: string | undefined;
}

const mostInMemory = 4 * 1024 * 1024;
const longestReason = 10_000;

/**
 * The plan of a dry import, with one entry per row, in order. A long plan is kept in a temporary file.
 *
 * @example
 * ```ts
 * import { readContacts } from "touchpoint-sdk/files";
 *
 * const { plan } = await client.contacts.import(readContacts("contacts.csv"), { dryRun: true });
 * for (const { index, result, fields } of plan ?? []) console.log(index, result, fields);
 * ```
 */
export class ImportPlan implements Iterable<PlannedRow> {
  readonly #spool = new Spool(mostInMemory);
  readonly #lengths: number[] = [];
  readonly #places: number[] = [];

  /** The number of rows. */
  get length(): number {
    return this.#places.length;
  }

  /**
   * Adds a row; the import calls this.
   *
   * @internal
   */
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
