import type { MomentInput } from "../runtime/moments.ts";
/** What a ledger knows of a key that is not free. */
export interface TakenKey {
  /**
   * `pending`: a process is sending the email now. `unknown`: it was sent without a clear response, or its process died.
   * `sent`: it was sent.
   */
  readonly state: "pending" | "unknown" | "sent";
  /** As it was claimed with. */
  readonly fingerprint: string;
  /** The time of the claim, in milliseconds since 1970. */
  readonly since: number;
  /** The service's response; undefined while there is none, or if the key was settled by hand without one. */
  readonly receipt: unknown;
}

/** A ledger's response to a caller that wants to send under a key. With `claim` the caller settles a key that was free. */
export type LedgerClaim = { readonly state: "claimed"; readonly claim: string } | TakenKey;

/** What a ledger stores with a claim. */
export interface ClaimDetails {
  /** The method that sends the email: `emails.send` or `emails.schedule`. Only a scheduled email can be cancelled. */
  readonly operation: string;
  /**
   * How long the attempt may take, in milliseconds. Until then, by the clock of the store, the key is `pending`; after
   * that its process has died, and the key is `unknown`.
   */
  readonly limitMs: number;
}

/** The result of an email under a key. `not-sent` frees the key. */
export type Settlement = "sent" | "not-sent" | "unknown";

/** Details of a settlement. */
export interface SettleDetails {
  /** The service's response, as JSON. Later calls with the key return it. */
  readonly receipt?: unknown;
  /** Settles only this claim. Without it, `settle` settles the current claim, as you do by hand. */
  readonly claim?: string | undefined;
  /** Also settles a key that another call is sending now. Make sure that no process is sending it. */
  readonly force?: boolean | undefined;
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
   * Returns what is known of the key; undefined if it is free. A call asks this first, so that a receipt or a refusal does
   * not wait for a limit. Without this method, the claim tells it.
   */
  read?(key: string): Promise<TakenKey | undefined>;
  /**
   * Claims the key if it is free. Otherwise returns its state and changes nothing. The fingerprint identifies the email; the
   * client compares it with the one under the key. A call claims its key directly before the first byte of each attempt.
   */
  claim(key: string, fingerprint: string, details: ClaimDetails): Promise<LedgerClaim>;
  /**
   * Settles a key. Without `claim` (by hand), it settles an unknown key, with `force` also a pending one, and the key of a
   * scheduled email as `not-sent` or `unknown`, because such an email may have been cancelled.
   *
   * @returns false, without a change, if the key is free, its email was sent or is being sent, or it has another claim.
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
export interface LedgerRow extends Omit<TakenKey, "fingerprint"> {
  /** The key, as given in `once`. */
  readonly key: string;
}

/** Which keys to list. Default: all. */
export interface LedgerFilter {
  /** Only keys in this state. */
  readonly state?: LedgerRow["state"] | undefined;
  /**
   * Only keys claimed at this time or later: a `Date`, a `Temporal.Instant` or `Temporal.ZonedDateTime`, or an ISO 8601
   * string. A date without a time means its start in UTC.
   */
  readonly since?: MomentInput | undefined;
}

/** A store for send-once keys, with methods to read and change keys by hand. */
export interface Ledger extends ClaimLedger {
  /**
   * Returns what is known of the key, with its fingerprint; undefined if it is free. The client asks it before a send.
   *
   * @example
   * ```ts
   * import { fileLedger } from "touchpoint-sdk";
   *
   * console.log((await fileLedger("sent.ledger").read("welcome:42"))?.state);
   * ```
   */
  read(key: string): Promise<TakenKey | undefined>;
  /**
   * Claims the key if it is free. Otherwise returns its state and changes nothing.
   *
   * @param details - default: an `emails.send` that may take 30 seconds.
   * @example
   * ```ts
   * import { memoryLedger } from "touchpoint-sdk";
   *
   * const { state } = await memoryLedger().claim("welcome:42", "a hash of the email");
   * console.log(state); // "claimed"
   * ```
   */
  claim(key: string, fingerprint: string, details?: Partial<ClaimDetails>): Promise<LedgerClaim>;
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
