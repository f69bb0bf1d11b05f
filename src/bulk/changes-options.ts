import type { CallOptions } from "../options/options.ts";
import type { Contact } from "../service/contacts.ts";
import type { Progress } from "./progress.ts";

/** How a contact differs from the snapshot. */
export type ContactChange<C extends Contact = Contact> =
  | {
      /** It was not in the snapshot. */
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
      /** It is not in the list any more. */
      readonly kind: "removed";
      readonly id: string;
    };

/** Options for finding changes. */
export interface ChangesOptions extends CallOptions {
  /**
   * The path of the snapshot to compare with; the first run creates it. While a run is not complete, its progress is in
   * `<path>.partial` and `<path>.partial.json` beside it.
   */
  readonly snapshot: string;
  /** As for `list`: compares only contacts that match. A contact that does not match any more is `removed`. */
  readonly search?: string | undefined;
  /** Called at most ten times per second, and at the end; `done` counts compared contacts. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The changes since a snapshot: iterate it once, or its pages. */
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
