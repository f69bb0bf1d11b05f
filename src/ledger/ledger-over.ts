import { ConfigurationError } from "../errors.ts";
import { messageOf } from "../runtime/values.ts";
import type { ClaimDetails, Ledger, LedgerClaim } from "./ledger.ts";
import {
  aged,
  checkKey,
  checkSettling,
  claimDetails,
  type LedgerEntry,
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

/** The store does not work as a ledger needs: nothing may be sent with it. */
export class AdapterFault extends ConfigurationError {
  readonly isAdapterFault = true;
}

/** What reaches a store through others' code: a SQL query, a Redis client. The store is tried before its first claim. */
export interface Adapter {
  /** What errors call it, such as `sqlLedger`. */
  readonly name: string;
  /** What it must do, for errors about wrong answers. */
  readonly rule: string;
  /** Whether an error of the store would come again and again, such as a missing permission. */
  isRefusal(error: ConfigurationError): boolean;
}

/** What a ledger needs of the place that has its keys. Each method is atomic among all processes that share the place. */
export interface KeyStore {
  /** Stores the claim, with the time, if the key is free. Returns whether it did. */
  claim(claiming: Claiming): Promise<boolean>;
  find(key: string): Promise<LedgerEntry | undefined>;
  /** Finds the key whose receipt is the scheduled email with this id. */
  findScheduled(id: string): Promise<LedgerEntry | undefined>;
  /** Settles the key if it has this claim, and was not `sent` before (unless `over`). Returns whether it did. */
  settle(key: string, claim: string, settling: Settling): Promise<boolean>;
  /** All keys that are not free. */
  all(): AsyncIterable<LedgerEntry>;
}

// A key may be freed between a claim and the look at what refused it, but hardly ever so many times in a row.
const mostTries = 10;

/** How the keys of trials begin. */
const trialPrefix = "touchpoint:self-test:";

/**
 * Tries a store with a key of its own: it is claimed, refused to a second claim, read, settled, read and freed.
 *
 * @throws AdapterFault naming the step that went wrong. A store that cannot be reached throws its own error.
 */
const tryStore = async (store: KeyStore, { name, rule, isRefusal }: Adapter): Promise<void> => {
  const key = trialPrefix + crypto.randomUUID();
  const [claim, fingerprint, operation, limitMs] = [crypto.randomUUID(), "self-test", "emails.send", 60_000];
  const claiming = { key, claim, fingerprint, operation, limitMs };
  const check = (what: string, isRight: boolean): void => {
    if (!isRight)
      throw new AdapterFault(`${name}: the store failed its self-test, because it ${what}: ${rule}`);
  };
  const isOurs = (entry: LedgerEntry | undefined, state: LedgerEntry["state"]): boolean =>
    entry?.key === key && entry.claim === claim && entry.fingerprint === fingerprint && entry.state === state;
  try {
    // Before there is a row: a user without DELETE would leave one at each try.
    check("freed a key that nobody has claimed", !(await store.settle(key, claim, { as: "not-sent" })));
    check("could not claim a key of its own", await store.claim(claiming));
    check("claimed one key twice", !(await store.claim({ ...claiming, claim: crypto.randomUUID() })));
    const entry = await store.find(key);
    const isTimed = entry?.limitMs === limitMs && Number.isFinite(entry.since) && Number.isFinite(entry.now);
    check("did not read the key that it has claimed", isOurs(entry, "pending") && isTimed);
    check("did not settle its key", await store.settle(key, claim, { as: "sent", receipt: { id: key } }));
    const sent = await store.find(key);
    check("did not read the receipt", isOurs(sent, "sent") && Object(sent?.receipt).id === key);
    check("did not free its key", await store.settle(key, claim, { as: "not-sent", over: true }));
    check("still reads the key that it has freed", (await store.find(key)) === undefined);
  } catch (error) {
    // The claim may be stored anyway.
    await store.settle(key, claim, { as: "not-sent", over: true }).catch(() => undefined);
    // Stores report failures of the network as ConfigurationErrors: any other error is one of a wrong answer.
    const isPassing = error instanceof ConfigurationError && !isRefusal(error);
    if (error instanceof AdapterFault || isPassing) throw error;
    throw new AdapterFault(`${name}: the self-test of the store failed: ${messageOf(error)}`, {
      cause: error,
    });
  }
};

/** The same store, tried before its first claim. If it cannot be reached, the next claim tries again. */
const tried = (store: KeyStore, adapter: Adapter): KeyStore => {
  let isTried = false;
  return {
    ...store,
    claim: async (claiming) => {
      // Claims share no trial that still runs: one that never ends would hold up all later claims.
      if (!isTried) await tryStore(store, adapter);
      isTried = true;
      return store.claim(claiming);
    },
  };
};

/** A ledger over a store. @param adapter - how the store is reached, if not by our own code alone. */
export const ledgerOver = (keyStore: KeyStore, adapter?: Adapter): Ledger => {
  const store = adapter === undefined ? keyStore : tried(keyStore, adapter);
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
        const entry = await store.find(key);
        // It stored the claim, and did not say so.
        if (entry?.claim === own) break;
        if (entry !== undefined) return aged(entry);
      }
      throw new Error(`the store refused to claim the key, but returned no entry for it: ${adapter?.rule}`);
    } catch (error) {
      // The claim may be stored anyway; nothing was sent under it.
      store.settle(key, own, { as: "not-sent" }).catch(() => undefined);
      throw error;
    }
  };

  const find = async (method: string, key: string): Promise<LedgerEntry | undefined> => {
    checkKey(method, key);
    return store.find(key);
  };

  return {
    claim,
    read: async (key) => {
      const entry = await find("get", key);
      return entry && aged(entry);
    },
    settle: async (key, as, details) => {
      const { claim: ownClaim, force, receipt } = details ?? {};
      checkSettling(key, as, details);
      if (ownClaim !== undefined) return store.settle(key, ownClaim, { as, receipt });
      const entry = await store.find(key);
      const how = entry && settledByHand(entry, as, force);
      if (entry === undefined || how === undefined) return false;
      return store.settle(key, entry.claim, { ...how, receipt });
    },
    settleScheduled: async (id, as) => {
      const entry = await store.findScheduled(id);
      return entry !== undefined && store.settle(entry.key, entry.claim, { as, over: true });
    },
    release: async (key) => {
      const entry = await find("release", key);
      return entry !== undefined && store.settle(key, entry.claim, { as: "not-sent", over: true });
    },
    get: async (key) => {
      const entry = await find("get", key);
      return entry && rowOf(entry);
    },
    async *list(filter) {
      const passes = listFilter(filter);
      for await (const entry of store.all()) {
        const row = rowOf(entry);
        // Of a process that was killed while it tried the store.
        if (passes(row) && !row.key.startsWith(trialPrefix)) yield row;
      }
    },
  };
};
