import { type Clock, systemClock } from "../runtime/clock.ts";
import { jsonCopy } from "../runtime/values.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerOver } from "./ledger-over.ts";
import { type Found, type Stored, scheduledIdOf, settled } from "./rules.ts";

/** A copy, so that nobody's changes reach what is stored. */
const copyOf = (receipt: unknown): unknown => (receipt === undefined ? undefined : jsonCopy(receipt));

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
  /** The keys of scheduled emails, by the emails' ids. */
  const scheduled = new Map<string, string>();

  const foundOf = (entry: Stored): Found => ({
    ...entry,
    receipt: copyOf(entry.receipt),
    now: clock.wallTime(),
  });

  const find = async (key: string): Promise<Found | undefined> => {
    const entry = entries.get(key);
    return entry && foundOf(entry);
  };

  return ledgerOver({
    find,
    claim: async (claiming) => {
      const { key } = claiming;
      if (entries.has(key)) return false;
      entries.set(key, { ...claiming, state: "pending", since: clock.wallTime(), receipt: undefined });
      return true;
    },
    findScheduled: async (id) => {
      const key = scheduled.get(id);
      return key === undefined ? undefined : find(key);
    },
    settle: async (key, claim, settling) => {
      const entry = entries.get(key);
      const state = entry?.claim === claim ? settled(entry.state, settling) : undefined;
      if (entry === undefined || state === undefined) return false;
      const { operation } = entry;
      const before = scheduledIdOf(operation, entry.receipt);
      if (before !== undefined) scheduled.delete(before);
      if (state === "free") return entries.delete(key);
      const receipt = copyOf(settling.receipt) ?? entry.receipt;
      entries.set(key, { ...entry, state, receipt });
      const id = scheduledIdOf(operation, receipt);
      if (id !== undefined) scheduled.set(id, key);
      return true;
    },
    async *all() {
      for (const entry of [...entries.values()].reverse()) yield foundOf(entry);
    },
  });
};
