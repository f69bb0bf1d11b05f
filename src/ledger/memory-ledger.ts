import { type Clock, systemClock } from "../runtime/clock.ts";
import { refuseSetup } from "../runtime/rules.ts";
import { jsonCopy } from "../runtime/values.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerOver } from "./ledger-over.ts";
import { mustBeClock, type Settling, type Stored, scheduledIdOf, settled } from "./rules.ts";

/** Copies a receipt, so that changes by a caller don't affect the stored one. */
const copyOf = (receipt: unknown): unknown => (receipt === undefined ? undefined : jsonCopy(receipt));

/** Copies the entry of a key, and adds the current time. Returns undefined for a free key. */
export const entryAt = <Entry extends Stored | undefined>(entry: Entry, now: number) =>
  entry && { ...entry, receipt: copyOf(entry.receipt), now };

/** The keys in memory that are not free. */
export class KeyTable<Entry extends Stored> {
  /** The entries, with the latest claim at the end. */
  readonly #entries = new Map<string, Entry>();

  find(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Finds the key whose receipt is the scheduled email with this id. */
  findScheduled(id: string): Entry | undefined {
    // A search of a year's 110,000 keys takes milliseconds, and only a cancel makes it.
    return this.newestFirst().find(({ operation, receipt }) => scheduledIdOf(operation, receipt) === id);
  }

  /** Stores a claim if its key is free. Returns whether it stored the claim. */
  claim(entry: Entry): boolean {
    if (this.#entries.has(entry.key)) return false;
    this.#entries.set(entry.key, entry);
    return true;
  }

  /** Settles the key if it has this claim and the rules allow it. Returns whether it settled the key. */
  settle(key: string, claim: string, settling: Settling): boolean {
    const entry = this.find(key);
    const state = entry?.claim === claim ? settled(entry.state, settling) : undefined;
    if (entry === undefined || state === undefined) return false;
    if (state === "free") return this.#entries.delete(key);
    const receipt = settling.receipt === undefined ? entry.receipt : settling.receipt;
    this.#entries.set(key, { ...entry, state, receipt });
    return true;
  }

  /** Returns all keys, with the latest claim first. */
  newestFirst(): Entry[] {
    return [...this.#entries.values()].reverse();
  }
}

/**
 * Stores send-once keys in memory until the process ends, for the clients that get this ledger. It stores a key with
 * the receipt of its email.
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
  refuseSetup("memoryLedger", mustBeClock(clock, "clock"));
  const table = new KeyTable<Stored>();
  return ledgerOver({
    find: async (key) => entryAt(table.find(key), clock.wallTime()),
    findScheduled: async (id) => entryAt(table.findScheduled(id), clock.wallTime()),
    claim: async (claiming) =>
      table.claim({ ...claiming, state: "pending", since: clock.wallTime(), receipt: undefined }),
    settle: async (key, claim, settling) =>
      table.settle(key, claim, { ...settling, receipt: copyOf(settling.receipt) }),
    async *all() {
      for (const entry of table.newestFirst()) yield entryAt(entry, clock.wallTime());
    },
  });
};
