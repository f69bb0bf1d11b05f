import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import { ConflictError, isTouchpointError, NotFoundError } from "../errors.ts";
import { errorWith } from "../http/error-from.ts";
import type { CallOptions } from "../options/options.ts";
import { findContact } from "../paging/matching.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import type { GivenContact } from "../workspace/contact-types.ts";
import { type Unseen, unseenHint, untilSeen } from "./search-lag.ts";

/** The result of an upsert. */
export interface Upserted {
  readonly contact: Contact;
  readonly result: "created" | "updated" | "unchanged";
}

interface UpsertInput {
  readonly input: GivenContact;
  readonly options: CallOptions | undefined;
}

/** Whether an update would change nothing. */
type IsSame = (patch: object, previous: Contact) => boolean;

const { create, update } = operations.contacts;
// A repeated creation is harmless: it conflicts, and the upsert then updates the contact. The input may be for an
// update, so it may omit custom fields that the schema requires (`isPartial`).
const repeatable = { ...create, replay: "idempotent", isPartial: true } as const;

/** The maximum time that an upsert waits until search shows a contact. */
const longestLagMs = 10_000;

const isUnclear = (error: unknown): boolean => isTouchpointError(error) && error.outcome === "unknown";

/**
 * Returns a function for one try of an upsert. If it returns `result: "unseen"`, search does not show
 * the contact yet: call the function again later. A try creates the contact.
 * After a conflict, or a creation with an unclear result, it finds and updates the contact.
 */
export const upsertTry = (
  call: Call,
  { input, options }: UpsertInput,
  isSame: IsSame,
): (() => Promise<Upserted | Unseen>) => {
  // An input that isn't an object gets here, too; the creation refuses it.
  const { email, ...patch } = { ...input };
  const isEmpty = Object.values(patch).every((value) => value === undefined);
  let wasUnclear = false;
  return async () => {
    let failure: unknown;
    try {
      return { contact: await sendRequest(call, repeatable, { payload: input }, options), result: "created" };
    } catch (error) {
      failure = error;
    }
    // If no retry has shown whether the creation happened, look the contact up, but only once.
    const canBeLookedUp = isUnclear(failure) && !wasUnclear && !call.signal?.aborted;
    wasUnclear ||= isUnclear(failure);
    if (!(failure instanceof ConflictError) && !canBeLookedUp) throw failure;
    const existing = await findContact(call, email, options);
    if (existing === null && failure instanceof ConflictError) return { result: "unseen", error: failure };
    if (existing === null) throw failure;
    if (isEmpty || isSame(patch, existing)) return { contact: existing, result: "unchanged" };
    try {
      const change = { id: existing.id, payload: patch };
      return { contact: await sendRequest(call, update, change, options), result: "updated" };
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      return { result: "unseen", error };
    }
  };
};

/**
 * Creates or updates a contact. If search does not show the conflicting contact yet, the upsert is retried for up to
 * 10 s, but not beyond `totalTimeoutMs`.
 */
export const upsertContact = (
  parentCall: Call,
  { input, options: callOptions }: UpsertInput,
): Promise<Upserted> =>
  parentCall.run("contacts.upsert", callOptions, async (call, options) => {
    const { clock, deadlineAt = Number.POSITIVE_INFINITY, waitsEndAt = Number.POSITIVE_INFINITY } = call;
    const until = Math.min(clock.now() + longestLagMs, deadlineAt, waitsEndAt);
    const tryOnce = upsertTry(call, { input, options }, () => false);
    const done = await untilSeen(call, tryOnce, until);
    if (done.result !== "unseen") return done;
    throw done.error instanceof ConflictError ? errorWith(done.error, { hint: unseenHint }) : done.error;
  });
