import { type Clock, systemClock } from "../runtime/clock.ts";
import { refuseSetup } from "../runtime/rules.ts";
import { copyOf, foundAt, KeyTable } from "./key-table.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerOver } from "./ledger-over.ts";
import { isClock, type Stored } from "./rules.ts";

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
  refuseSetup("memoryLedger", isClock(clock, "clock"));
  const table = new KeyTable<Stored>();
  return ledgerOver({
    find: async (key) => foundAt(table.find(key), clock.wallTime()),
    findScheduled: async (id) => foundAt(table.findScheduled(id), clock.wallTime()),
    claim: async (claiming) =>
      table.claim({ ...claiming, state: "pending", since: clock.wallTime(), receipt: undefined }),
    settle: async (key, claim, settling) =>
      table.settle(key, claim, { ...settling, receipt: copyOf(settling.receipt) }),
    async *all() {
      for (const entry of table.newestFirst()) yield foundAt(entry, clock.wallTime());
    },
  });
};
