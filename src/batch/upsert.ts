import { inRounds } from "../call/rounds.ts";
import type { CallScope } from "../call/scope.ts";
import { ConflictError, isTouchpointError, NotFoundError } from "../errors.ts";

/** The requests of an upsert. */
export interface UpsertSteps<C> {
  readonly create: () => Promise<C>;
  readonly find: () => Promise<C | null>;
  /** Undefined if there is nothing to update. */
  readonly update: (known: C) => Promise<C> | undefined;
}

/** What an upsert has done. */
export interface Upserted<C> {
  readonly contact: C;
  readonly result: "created" | "updated" | "unchanged";
}

const mostRounds = 3;

const isUnclear = (error: unknown): boolean => isTouchpointError(error) && error.outcome === "unknown";

/**
 * Creates a contact; after a conflict, or a creation with an unclear result, finds and updates it. A contact that
 * disappears in between is created again.
 */
export const upsert = async <C>(scope: CallScope, steps: UpsertSteps<C>): Promise<Upserted<C>> => {
  let wasUnclear = false;
  let last: unknown;
  const round = async (): Promise<Upserted<C> | undefined> => {
    try {
      return { contact: await steps.create(), result: "created" };
    } catch (error) {
      // If no retry has shown whether the creation happened, a lookup can, once.
      const canBeLookedUp = isUnclear(error) && !wasUnclear && !scope.signal?.aborted;
      wasUnclear ||= isUnclear(error);
      if (!(error instanceof ConflictError) && !canBeLookedUp) throw error;
      last = error;
    }
    const known = await steps.find();
    if (known !== null) return bring(known);
    if (last instanceof ConflictError) return undefined;
    throw last;
  };
  const bring = async (known: C): Promise<Upserted<C> | undefined> => {
    const updating = steps.update(known);
    if (updating === undefined) return { contact: known, result: "unchanged" };
    try {
      return { contact: await updating, result: "updated" };
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      last = error;
      return undefined;
    }
  };
  const done = await inRounds(scope, mostRounds, round);
  if (done === undefined) throw last;
  return done;
};
