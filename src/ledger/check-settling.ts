import { ValidationError } from "../errors.ts";
import { shown } from "../runtime/values.ts";
import { receiptText } from "./receipt.ts";

const settlements: readonly unknown[] = ["sent", "not-sent", "unknown"];

const demand = (fits: boolean, what: string): void => {
  if (!fits) throw new ValidationError(`ledger.settle: ${what}`);
};

/** @throws ValidationError for a key that is no string. */
export const checkKey = (method: string, key: unknown): void => {
  if (typeof key !== "string") throw new ValidationError(`ledger.${method}: the key must be a string`);
};

/** What a settlement is given, by a caller without types perhaps. */
interface Given {
  readonly claim?: unknown;
  readonly receipt?: unknown;
}

/** @throws ValidationError for what a person may mistype when settling by hand. */
export const checkSettling = (key: unknown, settlement: unknown, { claim, receipt }: Given): void => {
  checkKey("settle", key);
  const states = `must be "sent", "not-sent" or "unknown"`;
  demand(settlements.includes(settlement), `${states}, got ${shown(settlement)}`);
  demand(claim === undefined || typeof claim === "string", "claim must be the one that ledger.claim gave");
  const fits = receipt === undefined || receiptText(receipt) !== undefined;
  demand(fits, "receipt must be JSON of at most 64 KiB, nested 64 levels at most");
};
