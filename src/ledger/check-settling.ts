import { ValidationError } from "../errors.ts";

const settlements: readonly unknown[] = ["sent", "not-sent", "unknown"];

/** @throws ValidationError for what a person may mistype when settling by hand. */
export const checkSettling = (key: unknown, settlement: unknown): void => {
  if (typeof key !== "string") throw new ValidationError("ledger.settle: the key must be a string");
  if (!settlements.includes(settlement)) {
    throw new ValidationError(
      `ledger.settle: must be "sent", "not-sent" or "unknown", got ${String(settlement)}`,
    );
  }
};
