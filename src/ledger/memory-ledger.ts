import { type Clock, systemClock } from "../runtime/clock.ts";
import type { Ledger, LedgerClaim, LedgerRow } from "./ledger.ts";
import {
  checkKey,
  checkSettling,
  listFilter,
  type Settling,
  scheduledIdOf,
  settled,
  takesBack,
} from "./rules.ts";

interface Entry {
  readonly state: LedgerRow["state"];
  readonly fingerprint: string;
  readonly claim: string;
  readonly since: number;
  /** As JSON, so that nobody's changes reach it. */
  readonly receipt: string | undefined;
}

const receiptOf = ({ receipt }: Entry): unknown => (receipt === undefined ? undefined : JSON.parse(receipt));

const rowOf = (key: string, entry: Entry): LedgerRow => {
  const { state, since } = entry;
  return { key, state, since, receipt: receiptOf(entry) };
};

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
  const entries = new Map<string, Entry>();
  const scheduled = new Map<string, string>();

  const change = (key: string, settling: Settling, given?: unknown): boolean => {
    const entry = entries.get(key);
    const state = entry && settled(entry.state, settling);
    if (entry === undefined || state === undefined) return false;
    const before = scheduledIdOf(receiptOf(entry));
    if (before !== undefined) scheduled.delete(before);
    if (state === "free") return entries.delete(key);
    const after = { ...entry, state, receipt: given === undefined ? entry.receipt : JSON.stringify(given) };
    entries.set(key, after);
    const id = scheduledIdOf(receiptOf(after));
    if (id !== undefined) scheduled.set(id, key);
    return true;
  };

  return {
    claim: async (key, fingerprint): Promise<LedgerClaim> => {
      const entry = entries.get(key);
      if (entry === undefined) {
        const claim = crypto.randomUUID();
        const since = clock.wallTime();
        entries.set(key, { state: "pending", fingerprint, claim, since, receipt: undefined });
        return { state: "claimed", claim };
      }
      const { state, since } = entry;
      return state === "sent"
        ? { state, fingerprint: entry.fingerprint, receipt: receiptOf(entry) }
        : { state, fingerprint: entry.fingerprint, since };
    },
    settle: async (key, as, details) => {
      const { claim, receipt } = details ?? {};
      checkSettling(key, as, { claim, receipt });
      const entry = entries.get(key);
      if (entry === undefined || (claim !== undefined && claim !== entry.claim)) return false;
      const over = claim === undefined && takesBack(as, receiptOf(entry));
      return change(key, { as, over }, receipt);
    },
    settleScheduled: async (id, as) => {
      const key = scheduled.get(id);
      return key !== undefined && change(key, { as, over: true });
    },
    get: async (key) => {
      checkKey("get", key);
      const entry = entries.get(key);
      return entry && rowOf(key, entry);
    },
    async *list(filter) {
      const passes = listFilter(filter);
      for (const [key, entry] of [...entries].reverse()) {
        const row = rowOf(key, entry);
        if (passes(row)) yield row;
      }
    },
    release: async (key) => {
      checkKey("release", key);
      return change(key, { as: "not-sent", over: true });
    },
  };
};
