import type { MomentInput } from "../runtime/moments.ts";

/** The state of a key that is not free. */
export interface TakenKey {
  /**
   * `pending`: a process is sending the email now. `unknown`: the email may have been sent, because there was no clear
   * response or the process died. `sent`: the email was sent.
   */
  readonly state: "pending" | "unknown" | "sent";
  /** The fingerprint of the email, from the claim. */
  readonly fingerprint: string;
  /** The time of the claim, in milliseconds since 1970. */
  readonly since: number;
  /** The service's response; undefined while there is none, or if the key was settled by hand without one. */
  readonly receipt: unknown;
}

/**
 * The result of a claim. If the key was free, it contains the `claim` with which the caller later settles the key.
 * Otherwise, it is the state of the key.
 */
export type LedgerClaim = { readonly state: "claimed"; readonly claim: string } | TakenKey;

/** The details that a ledger stores with a claim. */
export interface ClaimDetails {
  /** The method that sends the email: `emails.send` or `emails.schedule`. Only a scheduled email can be cancelled. */
  readonly operation: string;
  /**
   * The maximum time from the claim to the end of the attempt, in milliseconds, measured with the store's clock. During
   * that time, the key is `pending`. If it is not settled by then, its process must have died, and the key is
   * `unknown`.
   */
  readonly limitMs: number;
}

/** The result of an email under a key. `not-sent` frees the key. */
export type Settlement = "sent" | "not-sent" | "unknown";

/** Details of a settlement. */
export interface SettleDetails {
  /** The service's response, as JSON. Later calls with the key return it. */
  readonly receipt?: unknown;
  /** The claim to settle. Without it (by hand), `settle` settles the current claim. */
  readonly claim?: string | undefined;
  /** Also settles a pending key. First make sure that no process is sending its email. */
  readonly force?: boolean | undefined;
}

/**
 * The methods that a client needs of a store for send-once keys. Implement this interface for your own store, for
 * example a database.
 *
 * Each method must be atomic among all processes that share the store. A method may resolve only when its change is
 * durable.
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
   * Returns the state of the key; undefined if it is free. A call reads the key first, so that a receipt or a refusal
   * doesn't wait for a rate limit. This method is optional, because a claim returns the state, too.
   */
  read?(key: string): Promise<TakenKey | undefined>;
  /**
   * Claims the key if it is free. Otherwise returns its state and changes nothing. The fingerprint identifies the
   * email; the client compares it with the one under the key. A call claims its key directly before the first byte of
   * each attempt.
   */
  claim(key: string, fingerprint: string, details: ClaimDetails): Promise<LedgerClaim>;
  /**
   * Settles a key. With `claim`, the key must have that claim and not be `sent`. Without `claim` (by hand), the key
   * must be `unknown`; with `force`, it may also be `pending`. By hand, the `sent` key of a scheduled email can be
   * settled as `not-sent` or `unknown`, because that email may have been cancelled.
   *
   * @returns whether it settled the key. If not, nothing has changed.
   * @example
   * ```ts
   * import { fileLedger } from "touchpoint-sdk";
   *
   * await fileLedger("sent.ledger").settle("welcome:42", "not-sent");
   * ```
   */
  settle(key: string, settlement: Settlement, details?: SettleDetails): Promise<boolean>;
  /**
   * Settles the key whose receipt is the scheduled email with this id: `not-sent` after a confirmed cancel, `unknown`
   * if the result is unknown. Without this method, a cancel does not change the key.
   *
   * @returns false if there is no such key.
   */
  settleScheduled?(id: string, settlement: "not-sent" | "unknown"): Promise<boolean>;
  /** Called with the log of each client that uses the ledger. The ledger writes its warnings there. */
  attach?(log: LedgerLog): void;
}

/** The log for the warnings of a ledger. */
export interface LedgerLog {
  /** Writes a warning for a person to check. */
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
   * Returns the state of the key with its fingerprint; undefined if the key is free. The client calls this method
   * before it sends an email.
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
   * Settles the key of a scheduled email. The client calls this method after a cancel.
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
   * Lists the keys that are not free. The newest claim comes first; only in Redis there is no order.
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
   * Frees a key in any state, so that the next call with the key sends its email.
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
