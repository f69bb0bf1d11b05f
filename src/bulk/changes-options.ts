import type { CallOptions } from "../options/options.ts";
import type { Contact } from "../service/contacts.ts";
import type { Progress } from "./progress.ts";

/** How a contact differs from the snapshot. */
export type ContactChange<C extends Contact = Contact> =
  | {
      /** The contact was not in the snapshot. */
      readonly kind: "added";
      readonly contact: C;
    }
  | {
      readonly kind: "changed";
      /** The contact as it is now. */
      readonly contact: C;
      /** The names of the fields that changed; a custom field as `customFields.plan`. */
      readonly fields: readonly string[];
    }
  | {
      /** The contact is no longer in the list. */
      readonly kind: "removed";
      readonly id: string;
    };

/** Options for finding changes. */
export interface ChangesOptions extends CallOptions {
  /**
   * The path of the snapshot to compare with; the first run creates it. A run that is not complete keeps its progress
   * in the files `<path>.partial` and `<path>.partial.json`.
   */
  readonly snapshot: string;
  /** Compares only contacts that match this search, as for `list`. A contact that no longer matches is `removed`. */
  readonly search?: string | undefined;
  /** Called at most ten times per second, and at the end. `done` counts compared contacts. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The changes since a snapshot. Iterate the changes once, or iterate their pages. */
export interface ContactChanges<C extends Contact = Contact> extends AsyncIterable<ContactChange<C>> {
  /**
   * The same changes, at most 200 at a time. A page counts as processed when you request the next one.
   *
   * @example
   * ```ts
   * for await (const page of client.contacts.changes({ snapshot: "contacts.snapshot" }).pages())
   *   console.log(page.length, "changes");
   * ```
   */
  pages(): AsyncIterableIterator<readonly ContactChange<C>[]>;
}
