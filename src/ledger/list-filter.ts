import { ValidationError } from "../errors.ts";
import { isDate, shown, unknownKeys } from "../runtime/values.ts";
import type { LedgerFilter, LedgerRow } from "./ledger.ts";

const states: readonly unknown[] = ["pending", "unknown", "sent"];
const iso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

const sinceMs = (since: unknown): number => {
  if (since === undefined) return Number.NEGATIVE_INFINITY;
  if (isDate(since)) return since.getTime();
  return typeof since === "string" && iso.test(since) ? Date.parse(since) : Number.NaN;
};

/**
 * Makes one question of a filter: whether a row passes.
 *
 * @throws ValidationError naming every fault of the filter.
 */
export const listFilter = (given: LedgerFilter | undefined): ((row: LedgerRow) => boolean) => {
  // A caller without types may give null, which stands for none, or no object at all.
  const filter: LedgerFilter = given ?? {};
  if (typeof filter !== "object") throw new ValidationError("ledger.list: the filter must be an object");
  const { state } = filter;
  const faults = unknownKeys(filter, ["state", "since"]);
  if (state !== undefined && !states.includes(state))
    faults.push(`state must be "pending", "unknown" or "sent", got ${shown(state)}`);
  const from = sinceMs(filter.since);
  if (Number.isNaN(from)) faults.push("since must be a valid Date or an ISO 8601 string with a time zone");
  if (faults.length > 0) throw new ValidationError(`ledger.list: ${faults.join("; ")}`);
  return (row) => (state === undefined || row.state === state) && row.since >= from;
};
