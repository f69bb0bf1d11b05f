import { epochMsOf, momentObjectFault } from "../runtime/moments.ts";
import {
  can,
  must,
  mustBeBoolean,
  mustBeOneOf,
  mustBeString,
  type Rule,
  type Rules,
  readOptions,
  refuseFaults,
  ruleFaults,
} from "../runtime/rules.ts";
import { shown } from "../runtime/values.ts";
import type { ClaimDetails, LedgerFilter, LedgerRow, Settlement, TakenKey } from "./ledger.ts";

const longestReceipt = 65_536;
const longestField = 1_024;
const maxLevels = 64;

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1)));

const isShort = (value: unknown): boolean =>
  typeof value === "string" ? value.length <= longestField : typeof value !== "object";

/** Converts a receipt to JSON. Undefined if JSON cannot write it, or it has more than 64 levels or more than 64 KiB. */
const receiptText = (receipt: unknown): string | undefined => {
  try {
    const text: string | undefined = isDeeperThan(receipt, maxLevels) ? undefined : JSON.stringify(receipt);
    return text === undefined || text.length > longestReceipt ? undefined : text;
  } catch {
    return undefined;
  }
};

/**
 * Copies a receipt in a form that every ledger can store. If `receiptText` can't write it, the copy has only its short
 * top-level values. The key of a sent email must be settled, whatever the service responded.
 */
export const keepable = (receipt: unknown): unknown => {
  const complete = receiptText(receipt);
  if (complete !== undefined) return JSON.parse(complete);
  if (typeof receipt !== "object" || receipt === null) return undefined;
  const plain = Object.entries(receipt).filter(([, field]) => isShort(field));
  const rest = receiptText(Object.fromEntries(plain));
  return rest === undefined ? undefined : JSON.parse(rest);
};

/** A settlement, as it is stored. */
export interface Settling {
  readonly as: Settlement;
  readonly receipt?: unknown;
  /**
   * Whether to change even a key that is `sent`: its scheduled email may have been cancelled, or a person releases the
   * key.
   */
  readonly over?: boolean | undefined;
}

/** The state of a taken key after a settlement; undefined if the settlement changes nothing. */
export const settled = (
  state: TakenKey["state"],
  { as, over }: Settling,
): TakenKey["state"] | "free" | undefined => {
  if (state === "sent" && !over) return undefined;
  return as === "not-sent" ? "free" : as;
};

/** Adds the defaults to the details of a claim, for claims by hand. */
export const claimDetails = ({
  operation = "emails.send",
  limitMs = 30_000,
}: Partial<ClaimDetails> = {}): ClaimDetails => ({ operation, limitMs });

/** A taken key, as a ledger stores it. */
export interface Stored extends TakenKey, ClaimDetails {
  readonly key: string;
  readonly claim: string;
}

/** A taken key, and the time of the store when the key was read. */
export interface LedgerEntry extends Stored {
  readonly now: number;
}

/** The current state of a key. If a pending claim is older than its time limit, its process has died. */
export const aged = ({ state, fingerprint, since, receipt, limitMs, now }: LedgerEntry): TakenKey => {
  const isOver = state === "pending" && now - since >= limitMs;
  return { state: isOver ? "unknown" : state, fingerprint, since, receipt };
};

/** The row of a key, for people. */
export const rowOf = (entry: LedgerEntry): LedgerRow => {
  const { state, since, receipt } = aged(entry);
  return { key: entry.key, state, since, receipt };
};

/** The id of the scheduled email in a receipt; undefined for other receipts. */
export const scheduledIdOf = (operation: string | undefined, receipt: unknown): string | undefined => {
  const { id }: Record<string, unknown> = Object(receipt);
  return operation === "emails.schedule" && typeof id === "string" ? id : undefined;
};

/** Converts a settlement by hand to a stored one; undefined if it is not allowed. */
export const settlingByHand = (entry: LedgerEntry, as: Settlement, force = false): Settling | undefined => {
  if (aged(entry).state === "pending" && !force) return undefined;
  // The scheduled email may have been cancelled.
  return { as, over: as !== "sent" && scheduledIdOf(entry.operation, entry.receipt) !== undefined };
};

const mustBeSettlement = mustBeOneOf("sent", "not-sent", "unknown");

const detailRules: Rules = {
  claim: must("the claim that ledger.claim returned", (claim) => typeof claim === "string"),
  force: mustBeBoolean,
  receipt: must(
    "JSON of at most 64 KiB and at most 64 levels",
    (receipt) => receiptText(receipt) !== undefined,
  ),
};

/** @throws ValidationError for a key that is not a string. */
export const checkKey = (method: string, key: unknown): void =>
  refuseFaults(`ledger.${method}`, mustBeString(key, "the key"));

/** @throws ValidationError naming every fault of the arguments of a settlement. */
export const checkSettling = (key: unknown, settlement: unknown, details: unknown): void =>
  refuseFaults("ledger.settle", [
    ...mustBeString(key, "the key"),
    ...mustBeSettlement(settlement, "the settlement"),
    ...ruleFaults(details, detailRules),
  ]);

const iso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

const sinceMs = (since: unknown): number => {
  if (since === undefined) return Number.NEGATIVE_INFINITY;
  if (typeof since === "string") return iso.test(since) ? Date.parse(since) : Number.NaN;
  return epochMsOf(since) ?? Number.NaN;
};

const sinceShape =
  "must be a valid Date, a Temporal.Instant, a Temporal.ZonedDateTime or an ISO 8601 string with a time zone";

const mustBeTime: Rule = (since, name) => {
  if (!Number.isNaN(sinceMs(since))) return [];
  const isOtherObject = typeof since === "object" && since !== null && epochMsOf(since) === undefined;
  const shape = `${sinceShape}, got ${shown(since)}`;
  return [`${name} ${isOtherObject ? momentObjectFault(since, shape) : shape}`];
};

const filterRules: Rules = { state: mustBeOneOf("pending", "unknown", "sent"), since: mustBeTime };

/**
 * Converts a filter to a function that returns whether a row passes.
 *
 * @throws ValidationError naming every fault of the filter.
 */
export const listFilter = (input: LedgerFilter | undefined): ((row: LedgerRow) => boolean) => {
  const filter = readOptions(input, filterRules);
  refuseFaults("ledger.list", ruleFaults(filter, filterRules));
  const { state, since } = filter;
  const from = sinceMs(since);
  return (row) => (state === undefined || row.state === state) && row.since >= from;
};

/** Checks the clock argument of `memoryLedger` and `fileLedger`. An untyped caller may pass options there. */
export const mustBeClock: Rule = (clock) =>
  can(clock, "wallTime")
    ? []
    : [
        "it takes no options here. Leave the last argument out, or pass a clock: an object with a wallTime() method",
      ];
