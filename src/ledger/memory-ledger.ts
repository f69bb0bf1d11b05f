import { type Clock, systemClock } from "../runtime/clock.ts";
import { checkSettling } from "./check-settling.ts";
import { Entries } from "./entries.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Keeps send-once keys in memory: they hold among the clients it is given to, as long as the process lives. A key
 * that was sent stays for ever, with its receipt.
 */
export const memoryLedger = (clock: Pick<Clock, "wallTime"> = systemClock): Ledger => {
  const entries = new Entries();
  return {
    claim: async (key, fingerprint) =>
      entries.claim({ key, fingerprint, claim: crypto.randomUUID(), since: clock.wallTime() }),
    settle: async (key, settlement, details = {}) => {
      checkSettling(key, settlement, details);
      return entries.settle(key, settlement, details);
    },
  };
};
