import type { GivenContact } from "../workspace/contact-types.ts";
import type { SourcePlace, WorkOptions } from "./work-options.ts";

/** A row that did not become a contact. */
export interface RejectedContact extends SourcePlace {
  /** The row, as the source returned it. */
  readonly contact: GivenContact;
  /** The service's status for it; undefined if it was never sent. */
  readonly status: number | undefined;
  /** The service's sentence, or what is wrong with the row. */
  readonly error: string;
}

/** What an import may do: create and update, or only one of them. */
export type ImportMode = "upsert" | "create" | "update";

/** Options of an import. */
export interface ImportOptions extends WorkOptions {
  /** Contacts processed at once. Default 8. Rows with the same address are processed in order, so the last one wins. */
  readonly concurrency?: number | undefined;
  /** `create` does not touch existing contacts, `update` creates none; such rows are `skipped`. Default `upsert`. */
  readonly mode?: ImportMode | undefined;
  /**
   * Sends no change. The report has the counts as they would be, and a `plan` with an entry for each row. A checkpoint
   * is read but not changed.
   */
  readonly dryRun?: boolean | undefined;
  /**
   * The most contacts that this run may create and update. Before one more change, the run rejects with a
   * ConfigurationError. The checkpoint is kept, and starting the run again continues from there. Default: no limit.
   */
  readonly maxChanges?: number | undefined;
  /**
   * The id of a list that the contacts are added to; their other lists stay the same. The import adds the contacts of
   * 1,000 rows at a time, before its checkpoint counts these rows, so a killed run forgets none. It adds the contact of
   * each row that was not refused, also of a row that changes nothing; with `mode: "update"` only contacts that exist.
   */
  readonly addToList?: string | undefined;
  /**
   * Called and awaited once for each refused row. Also if `addToList` refuses an address: its row counts as what became
   * of its contact.
   */
  readonly onRejected?: ((rejected: RejectedContact) => void | Promise<void>) | undefined;
}

/** What an import would do with one row. */
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
export interface ImportPlan extends Iterable<PlannedRow> {
  /** The number of rows. */
  readonly length: number;
}

/** The result of an import: `read` = `skipped` + `created` + `updated` + `unchanged` + `rejected` + `unknown`. */
export interface ImportReport {
  /** Rows read from the source. */
  readonly read: number;
  /** Rows settled by an earlier run, according to the checkpoint; and rows that the `mode` does not touch. */
  readonly skipped: number;
  /** New contacts. */
  readonly created: number;
  /** Existing contacts that were changed. */
  readonly updated: number;
  /** Existing contacts with every given value: nothing was sent. */
  readonly unchanged: number;
  /** Set if an earlier run refused rows, according to the checkpoint. They count as skipped. */
  readonly rejectedBefore?: true | undefined;
  /** Refused rows; each was passed to `onRejected`. */
  readonly rejected: number;
  /** Rows that were started, with an unknown result; the next run processes them again. */
  readonly unknown: number;
  /** How long the run took, in milliseconds. */
  readonly elapsedMs: number;
  /** For a `dryRun`: what would happen to each row. */
  readonly plan?: ImportPlan | undefined;
}
