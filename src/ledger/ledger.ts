/** A ledger's answer to a caller that wants to send under a key. */
export type LedgerClaim =
  /** The key was free and is now the caller's, to be settled with this `claim`. */
  | { readonly state: "claimed"; readonly claim: string }
  /** An email was sent under the key. `receipt` is undefined if the key was settled by hand without one. */
  | { readonly state: "sent"; readonly fingerprint: string; readonly receipt: unknown }
  /**
   * The key is taken. `pending`: a process is sending, or died while it was. `unknown`: the email was sent and no clear
   * response came. `since` is the time of the claim, in milliseconds since 1970.
   */
  | { readonly state: "pending" | "unknown"; readonly fingerprint: string; readonly since: number };

/** The result of an email under a key. `not-sent` frees the key. */
export type Settlement = "sent" | "not-sent" | "unknown";

/** Details of a settlement. */
export interface SettleDetails {
  /** The service's response, as JSON. Later calls with the key return it. */
  readonly receipt?: unknown;
  /** Settles only this claim. Without it, `settle` settles the current claim, as you do by hand. */
  readonly claim?: string | undefined;
}

/**
 * The methods that a client needs of a store for send-once keys. Implement it for your own store, for example a database.
 *
 * Each method must be atomic among all processes that share the store. It may resolve only when its change is durable.
 *
 * @example
 * ```ts
 * import { type ClaimLedger, Client } from "touchpoint-sdk";
 *
 * declare const table: ClaimLedger; // your own class
 * await using sender = new Client({ ledger: table });
 * ```
 */
export interface ClaimLedger {
  /**
   * Claims the key if it is free. Otherwise returns its state and changes nothing. The fingerprint identifies the email; the
   * client compares it with the one under the key.
   */
  claim(key: string, fingerprint: string): Promise<LedgerClaim>;
  /**
   * Settles a key that is pending or unknown. Without `claim` (by hand), it also settles the key of a scheduled email as
   * `not-sent` or `unknown`, because such an email may have been cancelled.
   *
   * @returns false, without a change, if the key is free, its email was sent, or it has another claim.
   * @example
   * ```ts
   * import { fileLedger } from "touchpoint-sdk";
   *
   * await fileLedger("sent.ledger").settle("welcome:42", "not-sent");
   * ```
   */
  settle(key: string, settlement: Settlement, details?: SettleDetails): Promise<boolean>;
  /**
   * Settles the key whose receipt is the scheduled email with this id: `not-sent` after a confirmed cancel, `unknown` if the
   * result is unknown. Without this method, a cancel does not change the key.
   *
   * @returns false if there is no such key.
   */
  settleScheduled?(id: string, settlement: "not-sent" | "unknown"): Promise<boolean>;
  /** Receives the log of each client that uses the ledger, for warnings. */
  attach?(log: LedgerLog): void;
}

/** Where a ledger writes its warnings. */
export interface LedgerLog {
  /** Reports what a person should look at. */
  warn(message: string, fields: object): void;
}

/** The state of a key. A free key has no row. */
export interface LedgerRow {
  /** The key, as given in `once`. */
  readonly key: string;
  /** `pending`: a process is sending, or died while it was. `unknown`: sent, without a clear response. */
  readonly state: "pending" | "unknown" | "sent";
  /** The time of the claim, in milliseconds since 1970. */
  readonly since: number;
  /** The service's response; undefined while there is none. */
  readonly receipt: unknown;
}

/** Which keys to list. Default: all. */
export interface LedgerFilter {
  /** Only keys in this state. */
  readonly state?: LedgerRow["state"] | undefined;
  /** Only keys claimed at this time or later: a Date or an ISO 8601 string. A date without a time means its start in UTC. */
  readonly since?: Date | string | undefined;
}

/** A store for send-once keys, with methods to read and change keys by hand. */
export interface Ledger extends ClaimLedger {
  /**
   * Settles the key of a scheduled email; the client calls it after a cancel.
   *
   * @returns false if there is no such key.
   * @example
   * ```ts
   * import { fileLedger } from "touchpoint-sdk";
   *
   * await fileLedger("sent.ledger").settleScheduled("email-1", "not-sent");
   * ```
   */
  settleScheduled(id: string, settlement: "not-sent" | "unknown"): Promise<boolean>;
  /**
   * Returns the state of the key; undefined if it is free.
   *
   * @example
   * ```ts
   * import { fileLedger } from "touchpoint-sdk";
   *
   * const row = await fileLedger("sent.ledger").get("welcome:42");
   * console.log(row?.state ?? "free");
   * ```
   */
  get(key: string): Promise<LedgerRow | undefined>;
  /**
   * Lists the keys that are not free. In memory and in a file, the newest claim comes first; in Redis there is no order.
   *
   * @example
   * ```ts
   * import { fileLedger } from "touchpoint-sdk";
   *
   * for await (const { key, since } of fileLedger("sent.ledger").list({ state: "unknown" }))
   *   console.log(key, new Date(since).toISOString());
   * ```
   */
  list(filter?: LedgerFilter): AsyncIterable<LedgerRow>;
  /**
   * Frees a key in any state: the next call with it sends.
   *
   * @returns false if the key was free.
   * @example
   * ```ts
   * import { fileLedger } from "touchpoint-sdk";
   *
   * await fileLedger("sent.ledger").release("welcome:42");
   * ```
   */
  release(key: string): Promise<boolean>;
}
