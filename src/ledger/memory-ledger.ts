import { type Clock, systemClock } from "../runtime/clock.ts";
import { jsonCopy } from "../runtime/values.ts";
import type { Ledger, LedgerClaim, TakenKey } from "./ledger.ts";
import {
  aged,
  checkKey,
  checkSettling,
  claimDetails,
  listFilter,
  rowOf,
  type Settling,
  type Stored,
  scheduledIdOf,
  settled,
  settling,
} from "./rules.ts";

/**
 * Keeps send-once keys in memory, for the clients that get this ledger, until the process ends. A key whose email was sent
 * is kept with its receipt.
 *
 * @example
 * ```ts
 * import { Client, memoryLedger } from "touchpoint-sdk";
 *
 * const ledger = memoryLedger();
 * await using first = new Client({ ledger });
 * await using second = new Client({ ledger, apiKey: "another-key" });
 * ```
 */
export const memoryLedger = (clock: Pick<Clock, "wallTime"> = systemClock): Ledger => {
  /** The latest claim last. */
  const entries = new Map<string, Stored>();
  const scheduled = new Map<string, string>();

  /** A copy, so that nobody's changes reach what is stored. */
  const known = (entry: Stored): TakenKey => {
    const { receipt, ...key } = aged(entry, clock.wallTime());
    return { ...key, receipt: receipt === undefined ? undefined : jsonCopy(receipt) };
  };

  const change = (key: string, how: Settling | undefined, given?: unknown): boolean => {
    const entry = entries.get(key);
    const state = entry && how && settled(entry.state, how);
    if (entry === undefined || state === undefined) return false;
    const { operation } = entry;
    const before = scheduledIdOf(operation, entry.receipt);
    if (before !== undefined) scheduled.delete(before);
    if (state === "free") return entries.delete(key);
    const receipt = given === undefined ? entry.receipt : jsonCopy(given);
    entries.set(key, { ...entry, state, receipt });
    const id = scheduledIdOf(operation, receipt);
    if (id !== undefined) scheduled.set(id, key);
    return true;
  };

  const read = async (key: string): Promise<TakenKey | undefined> => {
    checkKey("get", key);
    const entry = entries.get(key);
    return entry && known(entry);
  };

  return {
    read,
    claim: async (key, fingerprint, details): Promise<LedgerClaim> => {
      const entry = entries.get(key);
      if (entry !== undefined) return known(entry);
      const claim = crypto.randomUUID();
      const since = clock.wallTime();
      const claimed = { state: "pending", fingerprint, claim, since, receipt: undefined } as const;
      entries.set(key, { ...claimed, ...claimDetails(details) });
      return { state: "claimed", claim };
    },
    settle: async (key, as, details) => {
      const { claim, force, receipt } = details ?? {};
      checkSettling(key, as, { claim, force, receipt });
      const entry = entries.get(key);
      const now = clock.wallTime();
      return change(key, entry && settling(entry, as, { claim, force, now }), receipt);
    },
    settleScheduled: async (id, as) => {
      const key = scheduled.get(id);
      return key !== undefined && change(key, { as, over: true });
    },
    get: async (key) => {
      const entry = await read(key);
      return entry && rowOf(key, entry);
    },
    async *list(filter) {
      const passes = listFilter(filter);
      for (const [key, entry] of [...entries].reverse()) {
        const row = rowOf(key, known(entry));
        if (passes(row)) yield row;
      }
    },
    release: async (key) => {
      checkKey("release", key);
      return change(key, { as: "not-sent", over: true });
    },
  };
};
