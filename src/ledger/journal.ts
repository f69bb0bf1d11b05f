import { Entries } from "./entries.ts";
import { type JournalRecord, recordOf } from "./journal-record.ts";

/**
 * What a ledger's file says, read line by line. The order of the lines decides everything: of two claims on one key
 * the first in the file holds, so processes that append need no lock between them.
 */
export class Journal {
  readonly entries = new Entries();
  /** The id of the file; undefined while it has none. */
  id: string | undefined;
  /** The seal at which the file stands closed. */
  seal: string | undefined;
  records = 0;

  /** Reads whole lines. Returns the ids of the claims, settlements and seals among them that took effect. */
  read(text: string): ReadonlySet<string> {
    const effective = new Set<string>();
    for (const line of text.split("\n")) {
      const record = recordOf(line);
      if (record === undefined) continue;
      this.records += 1;
      const id = this.#apply(record);
      if (id !== undefined) effective.add(id);
    }
    return effective;
  }

  /** Whether a new file with one line per key would be much shorter. */
  isWorthCompacting(atLeast: number): boolean {
    return this.records >= atLeast && this.records > 1.5 * this.entries.size;
  }

  #apply(record: JournalRecord): string | undefined {
    if ("touchpointLedger" in record) {
      // Two processes that make the file at once both write a first line.
      this.id ??= record.id;
      return undefined;
    }
    if (this.id === undefined) throw new Error("it is damaged: its first line is missing");
    if ("unseal" in record) {
      if (this.seal === record.unseal) this.seal = undefined;
      return undefined;
    }
    if (this.seal !== undefined) return undefined;
    if ("seal" in record) {
      this.seal = record.seal;
      return record.seal;
    }
    if ("entry" in record) {
      this.entries.restore(record.key, record.entry);
      return undefined;
    }
    if ("settle" in record) {
      return this.entries.settle(record.key, record.as, record) ? record.settle : undefined;
    }
    return this.entries.claim(record).state === "claimed" ? record.claim : undefined;
  }
}
