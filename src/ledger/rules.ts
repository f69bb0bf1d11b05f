import type { LedgerRow, Settlement } from "./ledger.ts";

/** How a key stands, for the rules. */
export type KeyState = LedgerRow["state"] | "free";

/** A settlement as it is kept. */
export interface Settling {
  readonly as: Settlement;
  /** Takes back a key that was sent: its email was scheduled and may be cancelled, or a person releases it. */
  readonly over?: boolean | undefined;
}

/** How a settlement leaves a key that stands so, under the claim it names; undefined where it changes nothing. */
export const settled = (state: KeyState, { as, over }: Settling): KeyState | undefined => {
  if (state === "free" || (state === "sent" && !over)) return undefined;
  return as === "not-sent" ? "free" : as;
};

/** Whether a settlement by hand takes back a key that was sent: a scheduled email may have been cancelled. */
export const takesBack = (as: Settlement, receipt: unknown): boolean =>
  as !== "sent" && scheduledIdOf(receipt) !== undefined;

/** The id of the scheduled email that a receipt is of. */
export const scheduledIdOf = (receipt: unknown): string | undefined => {
  const { id, sendAt, status }: Record<string, unknown> = Object(receipt);
  const isScheduled = typeof sendAt === "string" || typeof status === "string";
  return typeof id === "string" && isScheduled ? id : undefined;
};
