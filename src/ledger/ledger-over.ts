import type { ClaimDetails, Ledger, LedgerClaim } from "./ledger.ts";
import {
  aged,
  checkKey,
  checkSettling,
  claimDetails,
  type Found,
  listFilter,
  rowOf,
  type Settling,
  settledByHand,
} from "./rules.ts";

/** A claim to store. */
interface Claiming extends ClaimDetails {
  readonly key: string;
  readonly fingerprint: string;
  readonly claim: string;
}

/** What to do about a store that stores, and does not say so. */
export const mustReturnRows =
  "a SQL query must return the rows of each statement, also of one that writes (RETURNING): all(), not run()";

/** What a ledger needs of the place that has its keys. Each method is atomic among all processes that share the place. */
export interface KeyStore {
  /** Stores the claim, with the time, if the key is free. Returns whether it did. */
  claim(claiming: Claiming): Promise<boolean>;
  find(key: string): Promise<Found | undefined>;
  /** Finds the key whose receipt is the scheduled email with this id. */
  findScheduled(id: string): Promise<Found | undefined>;
  /** Settles the key if it has this claim, and was not `sent` before (unless `over`). Returns whether it did. */
  settle(key: string, claim: string, settling: Settling): Promise<boolean>;
  /** All keys that are not free. */
  all(): AsyncIterable<Found>;
}

// A key may be freed between a claim and the look at what refused it, but hardly ever so many times in a row.
const mostTries = 10;

/** A ledger whose keys are in this place. */
export const ledgerOver = (store: KeyStore): Ledger => {
  const claim = async (
    key: string,
    fingerprint: string,
    details?: Partial<ClaimDetails>,
  ): Promise<LedgerClaim> => {
    const own = crypto.randomUUID();
    try {
      for (let tries = 0; tries < mostTries; tries += 1) {
        if (await store.claim({ key, fingerprint, claim: own, ...claimDetails(details) }))
          return { state: "claimed", claim: own };
        const found = await store.find(key);
        // It stored the claim, and did not say so.
        if (found?.claim === own) break;
        if (found !== undefined) return aged(found);
      }
      throw new Error(`the store does not say what holds the key: ${mustReturnRows}`);
    } catch (error) {
      // The claim may be stored anyway; nothing was sent under it.
      store.settle(key, own, { as: "not-sent" }).catch(() => undefined);
      throw error;
    }
  };

  const find = async (method: string, key: string): Promise<Found | undefined> => {
    checkKey(method, key);
    return store.find(key);
  };

  return {
    claim,
    read: async (key) => {
      const found = await find("get", key);
      return found && aged(found);
    },
    settle: async (key, as, details) => {
      const { claim: given, force, receipt } = details ?? {};
      checkSettling(key, as, details);
      if (given !== undefined) return store.settle(key, given, { as, receipt });
      const found = await store.find(key);
      const how = found && settledByHand(found, as, force);
      if (found === undefined || how === undefined) return false;
      return store.settle(key, found.claim, { ...how, receipt });
    },
    settleScheduled: async (id, as) => {
      const found = await store.findScheduled(id);
      return found !== undefined && store.settle(found.key, found.claim, { as, over: true });
    },
    release: async (key) => {
      const found = await find("release", key);
      return found !== undefined && store.settle(key, found.claim, { as: "not-sent", over: true });
    },
    get: async (key) => {
      const found = await find("get", key);
      return found && rowOf(found);
    },
    async *list(filter) {
      const passes = listFilter(filter);
      for await (const found of store.all()) {
        const row = rowOf(found);
        if (passes(row)) yield row;
      }
    },
  };
};
