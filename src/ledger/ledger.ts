/** What a ledger answers to whoever wants to send under a key. */
export type Claim =
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
 * Where send-once keys are kept. Anything that can compare and set can be one: both methods must be atomic among all
 * who share the ledger, and resolve only once their effect would survive what the ledger promises to survive.
 */
export interface Ledger {
  /**
   * Takes the key if it is free; otherwise tells how it stands and changes nothing. The fingerprint stands for the
   * email: whoever asks compares it with the one under the key.
   */
  claim(key: string, fingerprint: string): Promise<Claim>;
  /**
   * Settles a key that is pending or unknown.
   *
   * @returns false, and nothing changed, when the key is free, was sent, or is under another claim than the one named.
   */
  settle(key: string, settlement: Settlement, details?: SettleDetails): Promise<boolean>;
}
