/** What a ledger answers to whoever wants to send under a key. */
export type LedgerClaim =
  /** The key was free and is now the caller's, to be settled with this `claim`. */
  | { readonly state: "claimed"; readonly claim: string }
  /** An email went out under the key. `receipt` is undefined when it was settled by hand without one. */
  | { readonly state: "sent"; readonly fingerprint: string; readonly receipt: unknown }
  /**
   * The key is taken: somebody is sending, or was when the process died (`pending`), or sent and got no clear answer
   * (`unknown`). `since` is the time of the claim, in milliseconds since 1970.
   */
  | { readonly state: "pending" | "unknown"; readonly fingerprint: string; readonly since: number };

/** How an email under a key ended. `not-sent` makes the key free again. */
export type Settlement = "sent" | "not-sent" | "unknown";

/** What a settlement may carry. */
export interface SettleDetails {
  /** The service's answer, as JSON; later calls with the key are given it. */
  readonly receipt?: unknown;
  /** Settles this claim and no later one; without it whichever claim the key is under, as a person would. */
  readonly claim?: string | undefined;
}

/**
 * What a client needs of the place where send-once keys are kept. Anything that can compare and set can be one: its
 * methods must be atomic among all who share it, and resolve only once their effect would survive what it promises to
 * survive.
 */
export interface ClaimLedger {
  /**
   * Takes the key if it is free; otherwise tells how it stands and changes nothing. The fingerprint stands for the
   * email: whoever asks compares it with the one under the key.
   */
  claim(key: string, fingerprint: string): Promise<LedgerClaim>;
  /**
   * Settles a key that is pending or unknown; by hand (without `claim`) also one whose email was scheduled, as
   * `not-sent` or `unknown`, because such an email may have been cancelled.
   *
   * @returns false, and nothing changed, when the key is free, was sent, or is under another claim than the one named.
   */
  settle(key: string, settlement: Settlement, details?: SettleDetails): Promise<boolean>;
  /**
   * Settles the key whose receipt is the scheduled email with this id: `not-sent` once its cancel was confirmed,
   * `unknown` where nobody knows. Left out, cancels leave keys as they are.
   *
   * @returns false when there is no such key.
   */
  settleScheduled?(id: string, settlement: "not-sent" | "unknown"): Promise<boolean>;
}

/** How a key stands. One that is free has no row. */
export interface LedgerRow {
  /** The key, as given in `once`. */
  readonly key: string;
  /** `pending`: somebody is sending, or was when the process died. `unknown`: sent, and no clear answer came. */
  readonly state: "pending" | "unknown" | "sent";
  /** When it was claimed, in milliseconds since 1970. */
  readonly since: number;
  /** The service's answer; undefined while there is none. */
  readonly receipt: unknown;
}

/** Which keys to list; all of them by default. */
export interface LedgerFilter {
  /** Only keys in this state. */
  readonly state?: LedgerRow["state"] | undefined;
  /** Only keys claimed at this time or later: a Date, or an ISO 8601 string, a date alone for its beginning in UTC. */
  readonly since?: Date | string | undefined;
}

/** Where send-once keys are kept, and what one asks and changes by hand. */
export interface Ledger extends ClaimLedger {
  settleScheduled(id: string, settlement: "not-sent" | "unknown"): Promise<boolean>;
  /** How the key stands; undefined when it is free. */
  get(key: string): Promise<LedgerRow | undefined>;
  /** The keys that are taken. In memory and in a file the latest claim first, in Redis in no order. */
  list(filter?: LedgerFilter): AsyncIterable<LedgerRow>;
  /**
   * Frees a key whatever is known of it: the next call with it sends.
   *
   * @returns false when it is free.
   */
  release(key: string): Promise<boolean>;
}
