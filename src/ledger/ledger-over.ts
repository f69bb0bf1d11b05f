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
  settlingByHand,
} from "./rules.ts";

/** A claim to store. */
type Claiming = Pick<LedgerEntry, "key" | "claim" | "fingerprint" | "operation" | "limitMs">;

/**
 * Thrown if a store, or the third-party code that reaches it, returns wrong results. Nothing may be sent with such a
 * store.
 */
export class AdapterFault extends ConfigurationError {
  readonly isAdapterFault = true;
}

/** Third-party code that reaches a store: a SQL query, a Redis client. Its store is tested before the first claim. */
export interface Adapter {
  /** The name of the adapter in errors, such as `sqlLedger`. */
  readonly name: string;
  /** What the adapter must do. Errors about wrong results end with it. */
  readonly rule: string;
  /** Whether an error of the store is permanent, such as a missing permission. */
  isRefusal(error: ConfigurationError): boolean;
}

/** The storage of a ledger's keys. Each method is atomic among all processes that share the storage. */
export interface KeyStore {
  /** Stores the claim with the current time if the key is free. Returns whether it stored the claim. */
  claim(claiming: Claiming): Promise<boolean>;
  find(key: string): Promise<LedgerEntry | undefined>;
  /** Finds the key whose receipt is the scheduled email with this id. */
  findScheduled(id: string): Promise<LedgerEntry | undefined>;
  /**
   * Settles the key if it has this claim, and is not `sent` (unless `over` is set). Returns whether it settled the key.
   */
  settle(key: string, claim: string, settling: Settling): Promise<boolean>;
  /** Yields all keys that are not free. */
  all(): AsyncIterable<LedgerEntry>;
}

// A key may become free between a refused claim and the lookup of its entry. This rarely happens many times in a row.
const maxTries = 10;

/** The prefix of the keys of self-tests. */
const selfTestPrefix = "touchpoint:self-test:";

/**
 * Tests a store with a separate key: claims it, tries to claim it again, reads, settles, reads and frees it.
 *
 * @throws AdapterFault naming the failed step. A store that cannot be reached throws its own error.
 */
const testStore = async (store: KeyStore, { name, rule, isRefusal }: Adapter): Promise<void> => {
  const key = selfTestPrefix + crypto.randomUUID();
  const [claim, fingerprint, operation, limitMs] = [crypto.randomUUID(), "self-test", "emails.send", 60_000];
  const claiming = { key, claim, fingerprint, operation, limitMs };
  const check = (fault: string, isRight: boolean): void => {
    if (!isRight)
      throw new AdapterFault(`${name}: the store failed its self-test, because it ${fault}: ${rule}`);
  };
  const isOurs = (entry: LedgerEntry | undefined, state: LedgerEntry["state"]): boolean =>
    entry?.key === key && entry.claim === claim && entry.fingerprint === fingerprint && entry.state === state;
  try {
    // Check the permission to delete before the claim, because a self-test without that permission would leave a row.
    check("freed a key that nobody has claimed", !(await store.settle(key, claim, { as: "not-sent" })));
    check("could not claim a key of its own", await store.claim(claiming));
    check("claimed one key twice", !(await store.claim({ ...claiming, claim: crypto.randomUUID() })));
    const entry = await store.find(key);
    const isTimed = entry?.limitMs === limitMs && Number.isFinite(entry.since) && Number.isFinite(entry.now);
    check("did not return the key that it has claimed", isOurs(entry, "pending") && isTimed);
    check("did not settle its key", await store.settle(key, claim, { as: "sent", receipt: { id: key } }));
    const sent = await store.find(key);
    check(
      "did not return the receipt that was just stored",
      isOurs(sent, "sent") && Object(sent?.receipt).id === key,
    );
    check("did not free its key", await store.settle(key, claim, { as: "not-sent", over: true }));
    check("still returns the key that it has freed", (await store.find(key)) === undefined);
  } catch (error) {
    // The claim may be stored despite the error.
    await store.settle(key, claim, { as: "not-sent", over: true }).catch(() => undefined);
    // A store reports a failed statement or command as a ConfigurationError. Any other error means that it returned a
    // wrong result.
    const isTemporary = error instanceof ConfigurationError && !isRefusal(error);
    if (error instanceof AdapterFault || isTemporary) throw error;
    throw new AdapterFault(`${name}: the self-test of the store failed: ${messageOf(error)}`, {
      cause: error,
    });
  }
};

/** Wraps a store so that it is tested before its first claim. If the self-test fails, the next claim runs it again. */
const tested = (store: KeyStore, adapter: Adapter): KeyStore => {
  let isTested = false;
  return {
    ...store,
    claim: async (claiming) => {
      // Claims don't share a running self-test, because one that never ends would block all later claims.
      if (!isTested) await testStore(store, adapter);
      isTested = true;
      return store.claim(claiming);
    },
  };
};

/** Creates a ledger over a store. @param adapter - the third-party code that reaches the store, if there is any. */
export const ledgerOver = (keyStore: KeyStore, adapter?: Adapter): Ledger => {
  const store = adapter === undefined ? keyStore : tested(keyStore, adapter);
  const claim = async (
    key: string,
    fingerprint: string,
    details?: Partial<ClaimDetails>,
  ): Promise<LedgerClaim> => {
    const own = crypto.randomUUID();
    try {
      for (let tries = 0; tries < maxTries; tries += 1) {
        if (await store.claim({ key, fingerprint, claim: own, ...claimDetails(details) }))
          return { state: "claimed", claim: own };
        const entry = await store.find(key);
        // The store has stored the claim, but has reported that it did not.
        if (entry?.claim === own) break;
        if (entry !== undefined) return aged(entry);
      }
      throw new Error(`the store refused to claim the key, but returned no entry for it: ${adapter?.rule}`);
    } catch (error) {
      // The claim may be stored despite the error. Nothing was sent under it, so release it.
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
      // A send reads its key before its first claim, so a refusal can come before the self-test.
      try {
        const entry = await find("get", key);
        return entry && aged(entry);
      } catch (error) {
        const isFault = error instanceof ConfigurationError && !(error instanceof AdapterFault);
        if (!isFault || !adapter?.isRefusal(error)) throw error;
        throw new AdapterFault(`${adapter.name}: ${error.message}`, { cause: error });
      }
    },
    settle: async (key, as, details) => {
      const { claim: ownClaim, force, receipt } = details ?? {};
      checkSettling(key, as, details);
      if (ownClaim !== undefined) return store.settle(key, ownClaim, { as, receipt });
      const entry = await store.find(key);
      const settling = entry && settlingByHand(entry, as, force);
      if (entry === undefined || settling === undefined) return false;
      return store.settle(key, entry.claim, { ...settling, receipt });
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
        // Skip the key of a self-test during which the process was killed.
        if (passes(row) && !row.key.startsWith(selfTestPrefix)) yield row;
      }
    },
  };
};
