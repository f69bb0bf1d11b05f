import type { Call } from "../call/executor.ts";
import type { CallOptions } from "../options/options.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Contact } from "../service/contacts.ts";
import type { Progress } from "./progress.ts";

/** What became of a contact since the snapshot. */
export type ContactChange<C extends Contact = Contact> =
  | {
      /** It was not in the snapshot. */
      readonly kind: "added";
      readonly contact: C;
    }
  | {
      readonly kind: "changed";
      /** As it is now. */
      readonly contact: C;
      /** The names of the fields that changed; a custom field as `customFields.plan`. */
      readonly fields: readonly string[];
    }
  | {
      /** It is in the list no more. */
      readonly kind: "removed";
      readonly id: string;
    };

/** Which changes are looked for, beside what every call may set. */
export interface ChangesOptions extends CallOptions {
  /**
   * The path of the snapshot to compare with; the first run makes it. Beside it lies `<path>.partial` while a run has not
   * come to its end: how far it has come.
   */
  readonly since: string;
  /** As of `list`: only contacts that it matches count; one that it matches no more is `removed`. */
  readonly search?: string | undefined;
  /** Called at most ten times a second, and at the end; `done` are contacts compared. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The changes since a snapshot: iterate it once, or its pages. */
export interface ContactChanges<C extends Contact = Contact> extends AsyncIterable<ContactChange<C>> {
  /** The same changes, at most 200 at a time: each page is taken when the next is asked for. */
  pages(): AsyncIterableIterator<readonly ContactChange<C>[]>;
}

export interface ChangesContext<C extends Contact> {
  readonly clock: Clock;
  readonly call: Call;
  /** The pages behind a cursor, or all. */
  readonly pages: (
    call: Call,
    options: CallOptions,
    from: { readonly search?: string; readonly cursor?: string | undefined; readonly prefetch?: number },
  ) => AsyncIterable<{
    readonly data: readonly C[];
    readonly total?: number | undefined;
    readonly cursor: string;
  }>;
}
