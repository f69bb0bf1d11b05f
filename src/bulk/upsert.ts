import type { CallScope } from "../call/scope.ts";
import { ConflictError, isTouchpointError, NotFoundError } from "../errors.ts";
import { inRounds } from "../http/retry-loop.ts";
import type { CallOptions } from "../options/options.ts";
import { findContact } from "../paging/matching.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import type { GivenContact } from "../workspace/contact-types.ts";

/** What an upsert has done. */
export interface Upserted {
  readonly contact: Contact;
  readonly result: "created" | "updated" | "unchanged";
}

const { create, update } = operations.contacts;
// A second creation is harmless: it conflicts, and the upsert then updates, also with a part of the fields.
const repeatable = { ...create, replay: "idempotent", isPartial: true } as const;
const mostRounds = 3;

const isUnclear = (error: unknown): boolean => isTouchpointError(error) && error.outcome === "unknown";

/**
 * Creates a contact; after a conflict, or a creation with an unclear result, finds and updates it. A contact that
 * disappears in between is created again.
 *
 * @param isSame - whether the update would change nothing.
 */
export const upsertContact = (
  through: CallScope,
  { input, options: given }: { readonly input: GivenContact; readonly options: CallOptions | undefined },
  isSame: (patch: object, known: Contact) => boolean = () => false,
): Promise<Upserted> =>
  through.run("contacts.upsert", given, async (call, options) => {
    // The creation refuses an input that is no object.
    const { email, ...patch } = { ...input };
    const isEmpty = Object.values(patch).every((value) => value === undefined);
    let wasUnclear = false;
    let last: unknown;
    /** Create; after a conflict or an unclear result find; update. Undefined: the contact has gone in between. */
    const round = async (): Promise<Upserted | undefined> => {
      try {
        return { contact: await call.request(repeatable, { payload: input }, options), result: "created" };
      } catch (error) {
        // If no retry has shown whether the creation happened, a lookup can, once.
        const canBeLookedUp = isUnclear(error) && !wasUnclear && !call.signal?.aborted;
        wasUnclear ||= isUnclear(error);
        if (!(error instanceof ConflictError) && !canBeLookedUp) throw error;
        last = error;
      }
      const known = await findContact(call, email, options);
      if (known === null && last instanceof ConflictError) return undefined;
      if (known === null) throw last;
      if (isEmpty || isSame(patch, known)) return { contact: known, result: "unchanged" };
      try {
        const change = { id: known.id, payload: patch };
        return { contact: await call.request(update, change, options), result: "updated" };
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
        last = error;
        return undefined;
      }
    };
    const done = await inRounds(call, mostRounds, round);
    if (done === undefined) throw last;
    return done;
  });
