import type { GivenContact } from "../workspace/contact-types.ts";
import type { SourcePlace, WorkOptions } from "./work-options.ts";

/** A row that the import refused, or whose address the list of `addToList` refused. */
export interface RejectedContact extends SourcePlace {
  /** The row as the source yielded it. */
  readonly contact: GivenContact;
  /** The status of the service's response; undefined if the row was never sent. */
  readonly status: number | undefined;
  /** The error message of the service, or what is wrong with the row. */
  readonly error: string;
}

/** What an import may do: create and update, or only one of them. */
export type ImportMode = "upsert" | "create" | "update";

/** Options of an import. */
export interface ImportOptions extends WorkOptions {
  /**
   * How many contacts to process at once. Default 8. The import processes rows with the same address in order: the last
   * one wins.
   */
  readonly concurrency?: number | undefined;
  /**
   * `create` skips rows whose contact exists, and `update` skips rows whose contact does not exist. Default `upsert`.
   */
  readonly mode?: ImportMode | undefined;
  /**
   * Sends no change. The report has the expected counts, and a `plan` with an entry for each row. A checkpoint is read
   * but not changed.
   */
  readonly dryRun?: boolean | undefined;
  /**
   * The maximum number of contacts that this run may create and update. If one more change is needed, the run does not
   * make this change, and rejects with a ConfigurationError. The checkpoint is kept: start the run again to continue
   * from there. Default: no limit.
   */
  readonly maxChanges?: number | undefined;
  /**
   * The id of a list to add the contacts to; their other lists stay the same. The import adds the contacts of 1,000
   * rows at a time, and only then counts these rows in the checkpoint. So even a killed run leaves out no contact. The
   * import adds the contact of every row that was not refused, even if the row changes nothing. With `mode: "update"`,
   * it adds only contacts that exist.
   */
  readonly addToList?: string | undefined;
  /**
   * Called and awaited once for each refused row. The import also calls it if the list of `addToList` refuses an
   * address; the report still counts that row as created, updated or unchanged.
   */
  readonly onRejected?: ((rejected: RejectedContact) => void | Promise<void>) | undefined;
}

/** The planned result of one row. */
export interface PlannedRow extends SourcePlace {
  readonly result: "create" | "update" | "unchanged" | "skipped" | "refused";
  /** The fields that an update would change; undefined for other results. */
  readonly fields?: readonly string[] | undefined;
  /** Why the import would refuse or skip the row. */
  readonly reason?: string | undefined;
}

/**
 * The plan of a dry run, with one entry per row, in order. A long plan is stored in a temporary file.
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
  /** Rows that an earlier run settled, according to the checkpoint, and rows that the `mode` excludes. */
  readonly skipped: number;
  /** New contacts. */
  readonly created: number;
  /** Existing contacts that were changed. */
  readonly updated: number;
  /** Existing contacts that already had every value of their row. The import sent nothing for them. */
  readonly unchanged: number;
  /** Set if an earlier run refused rows, according to the checkpoint. They count as skipped. */
  readonly rejectedBefore?: true | undefined;
  /** Refused rows; each was passed to `onRejected`. */
  readonly rejected: number;
  /** Rows that were read and have no known result, because the run ended. The next run processes them. */
  readonly unknown: number;
  /** How long the run took, in milliseconds. */
  readonly elapsedMs: number;
  /** For a `dryRun`: what would happen to each row. */
  readonly plan?: ImportPlan | undefined;
}
