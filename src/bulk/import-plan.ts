import { Spool } from "./spool.ts";
import type { SourcePlace } from "./work-options.ts";

/** What an import would do, or did, with one row. */
export interface PlannedRow extends SourcePlace {
  readonly result: "create" | "update" | "unchanged" | "skipped" | "refused";
  /** The fields that would change; only for an update. */
  readonly fields?: readonly string[] | undefined;
  /** Why the row is refused or skipped. */
  readonly reason?: string | undefined;
}

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
  readonly #spool = new Spool();

  /** The number of rows. */
  get length(): number {
    return this.#spool.length;
  }

  /**
   * Adds a row; the import calls this.
   *
   * @internal
   */
  add(row: PlannedRow): void {
    this.#spool.add(JSON.stringify(row));
  }

  *[Symbol.iterator](): Iterator<PlannedRow> {
    for (let row = 0; row < this.length; row += 1) yield JSON.parse(this.#spool.read(row));
  }
}
