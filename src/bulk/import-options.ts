import type { Call } from "../call/executor.ts";
import type { Issue } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Contact } from "../service/contacts.ts";
import type { GivenContact } from "../workspace/contact-types.ts";
import type { CheckpointStore } from "./checkpoint.ts";
import type { ImportLookup, LookupContext } from "./import-lookup.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { Progress } from "./progress.ts";

/** A row that did not become a contact. */
export interface RejectedContact {
  /** As the source gave it. */
  readonly contact: GivenContact;
  /** Its place in the source, counted from 0. */
  readonly index: number;
  /** Its line in the file that it was read from; undefined where there is none. */
  readonly line?: number | undefined;
  /** The service's status for it; undefined when it was never sent. */
  readonly status: number | undefined;
  /** The service's sentence, or what is wrong with the row. */
  readonly error: string;
}

/** A row that did. */
export interface ImportedContact {
  /** As the service has it now. */
  readonly contact: Contact;
  /** Its place in the source, counted from 0. */
  readonly index: number;
  /** `unchanged`: every field given was so already, and nothing was sent. */
  readonly result: "created" | "updated" | "unchanged";
}

/** What an import may do: create and update, or one of the two. */
export type ImportMode = "upsert" | "create" | "update";

/** How an import goes, beside what every call may set. */
export interface ImportOptions extends CallOptions {
  /**
   * The whole run, in milliseconds: at its end the run rejects with a TimeoutError, the checkpoint stands, and
   * starting it again goes on from there. Without it a run may last as long as its source, and the client's own
   * `totalTimeoutMs` bounds each row.
   */
  readonly totalTimeoutMs?: number | undefined;
  /** A path, or a store of one's own: how far the run has come, so that it can be killed and started again. */
  readonly checkpoint?: string | CheckpointStore | undefined;
  /** Contacts under way at once. Default 8. Rows of one address go one after the other, so the last of them wins. */
  readonly concurrency?: number | undefined;
  /** `create` leaves contacts that exist alone, `update` makes none; such rows are `skipped`. Default `upsert`. */
  readonly mode?: ImportMode | undefined;
  /**
   * Sends no change: the report has the counts as they would be, and `plan`, which tells of each row. A checkpoint is
   * read, and left as it is.
   */
  readonly dryRun?: boolean | undefined;
  /**
   * The most contacts that this run may create and update. At the first change beyond it the run rejects with a
   * ConfigurationError; the checkpoint stands, and starting it again goes on from there. Without it there is no bound.
   */
  readonly maxChanges?: number | undefined;
  /**
   * Added to this list, without touching their other lists: 1,000 in one go, as many as a request takes, and the rest
   * at the end. The checkpoint knows which rows are still to be added, so a killed run leaves nobody out.
   */
  readonly addToList?: string | undefined;
  /** Called at most ten times a second, and at the end. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called, and awaited, once for each row that was refused. */
  readonly onRejected?: ((rejected: RejectedContact) => void | Promise<void>) | undefined;
  /** Called, and awaited, once for each row that is a contact now. */
  readonly onImported?: ((imported: ImportedContact) => void | Promise<void>) | undefined;
}

/** What became of an import: `read` = `skipped` + `created` + `updated` + `unchanged` + `rejected` + `unknown`. */
export interface ImportReport {
  /** Taken from the source. */
  readonly read: number;
  /** Settled by an earlier run, as the checkpoint says; and rows that the `mode` does not touch. */
  readonly skipped: number;
  /** New contacts. */
  readonly created: number;
  /** Known, and changed. */
  readonly updated: number;
  /** Known, and the same in every field given: nothing was sent. */
  readonly unchanged: number;
  /** Refused, each told to `onRejected`. */
  readonly rejected: number;
  /** Begun, but nobody knows what became of them; the next run does them again. */
  readonly unknown: number;
  /** How long the run took, in milliseconds. */
  readonly elapsedMs: number;
  /** How it was found out which contacts there are, and why so; undefined where no row had to be looked up. */
  readonly lookup?: ImportLookup | undefined;
  /** Of a `dryRun`: what would become of each row. */
  readonly plan?: ImportPlan | undefined;
}

/** What became of one row. */
export interface RowResult<C extends Contact = Contact> {
  readonly contact: C;
  readonly result: ImportedContact["result"];
}

export interface ImportContext {
  readonly clock: Clock;
  readonly call: Call;
  /** What is wrong with a row. */
  readonly issues: (input: GivenContact) => readonly Issue[] | Promise<readonly Issue[]>;
  /** Creates the contact, or updates the one with its email unless nothing would change. */
  readonly upsert: (call: Call, input: GivenContact, options: CallOptions) => Promise<RowResult>;
  readonly create: (call: Call, input: GivenContact, options: CallOptions) => Promise<Contact>;
  readonly update: (call: Call, id: string, row: GivenContact, options: CallOptions) => Promise<Contact>;
  readonly find: (call: Call, email: string, options: CallOptions) => Promise<Contact | null>;
  /** As of `LookupContext`. */
  readonly pages: (
    call: Call,
    options: CallOptions,
    cursor: string | undefined,
  ) => ReturnType<LookupContext["pages"]>;
}
