import type { Claim, SettleDetails, Settlement } from "./ledger.ts";

/** What is kept under one key. */
export interface Entry {
  readonly state: "pending" | "sent" | "unknown";
  readonly fingerprint: string;
  readonly claim: string;
  /** When it was claimed, in milliseconds since 1970. */
  readonly since: number;
  readonly receipt?: unknown;
}

/** A claim to be entered. */
export interface Claiming {
  readonly key: string;
  readonly fingerprint: string;
  readonly claim: string;
  readonly since: number;
}

/** The rules of a ledger over a map; where the map is kept is another's concern. */
export class Entries {
  readonly #byKey = new Map<string, Entry>();

  get size(): number {
    return this.#byKey.size;
  }

  [Symbol.iterator](): IterableIterator<[string, Entry]> {
    return this.#byKey.entries();
  }

  /** How the key stands; undefined when it is free. */
  look(key: string): Exclude<Claim, { readonly state: "claimed" }> | undefined {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return undefined;
    const { state, fingerprint, since, receipt } = entry;
    return state === "sent" ? { state, fingerprint, receipt } : { state, fingerprint, since };
  }

  /** Puts back what was kept elsewhere. */
  restore(key: string, entry: Entry): void {
    this.#byKey.set(key, entry);
  }

  claim({ key, ...claiming }: Claiming): Claim {
    const taken = this.look(key);
    if (taken !== undefined) return taken;
    this.#byKey.set(key, { state: "pending", ...claiming });
    return { state: "claimed", claim: claiming.claim };
  }

  canSettle(key: string, claim: string | undefined): boolean {
    const entry = this.#byKey.get(key);
    return entry !== undefined && entry.state !== "sent" && (claim === undefined || claim === entry.claim);
  }

  settle(key: string, settlement: Settlement, { receipt, claim }: SettleDetails): boolean {
    const entry = this.#byKey.get(key);
    if (entry === undefined || !this.canSettle(key, claim)) return false;
    if (settlement === "not-sent") this.#byKey.delete(key);
    else this.#byKey.set(key, { ...entry, state: settlement, receipt });
    return true;
  }
}
