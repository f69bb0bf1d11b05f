import { epochMsOf, momentObjectFault } from "../runtime/moments.ts";
import {
  can,
  isFlag,
  isOneOf,
  isString,
  must,
  type Rule,
  type Rules,
  readOptions,
  refuseFaults,
  ruleFaults,
} from "../runtime/rules.ts";
import { shown } from "../runtime/values.ts";
import type { ClaimDetails, LedgerFilter, LedgerRow, Settlement, TakenKey } from "./ledger.ts";

const longestText = 65_536;
const longestField = 1_024;
const mostLevels = 64;

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1)));

const isPlain = (value: unknown): boolean =>
  typeof value === "string" ? value.length <= longestField : typeof value !== "object";

/** A receipt as JSON; undefined if it cannot be written, nests more than 64 levels or takes more than 64 KiB. */
const receiptText = (receipt: unknown): string | undefined => {
  try {
    const text: string | undefined = isDeeperThan(receipt, mostLevels) ? undefined : JSON.stringify(receipt);
    return text === undefined || text.length > longestText ? undefined : text;
  } catch {
    return undefined;
  }
};

/**
 * A copy of a receipt that any ledger can store: all of it if `receiptText` can write it, otherwise its top-level texts
 * and numbers. The response to a sent email may be anything; its key must be settled anyway.
 */
export const keepable = (receipt: unknown): unknown => {
  const complete = receiptText(receipt);
  if (complete !== undefined) return JSON.parse(complete);
  if (typeof receipt !== "object" || receipt === null) return undefined;
  const plain = Object.entries(receipt).filter(([, field]) => isPlain(field));
  const rest = receiptText(Object.fromEntries(plain));
  return rest === undefined ? undefined : JSON.parse(rest);
};

/** A settlement, as it is stored. */
export interface Settling {
  readonly as: Settlement;
  readonly receipt?: unknown;
  /** Frees a key that was `sent`: its email was scheduled and may be cancelled, or a person releases it. */
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

/** The details of a claim, with the defaults for one that is made by hand. */
export const claimDetails = ({
  operation = "emails.send",
  limitMs = 30_000,
}: Partial<ClaimDetails> = {}): ClaimDetails => ({ operation, limitMs });

/** A taken key, as a ledger stores it. */
export interface Stored extends TakenKey, ClaimDetails {
  readonly key: string;
  readonly claim: string;
}

/** A taken key, and the time by the clock of its store when it was read. */
export interface LedgerEntry extends Stored {
  readonly now: number;
}

/** What is known of a key now: a claim older than its attempt may take is that of a process that died. */
export const aged = ({ state, fingerprint, since, receipt, limitMs, now }: LedgerEntry): TakenKey => {
  const isOver = state === "pending" && now - since >= limitMs;
  return { state: isOver ? "unknown" : state, fingerprint, since, receipt };
};

/** The row of a key for people. */
export const rowOf = (entry: LedgerEntry): LedgerRow => {
  const { state, since, receipt } = aged(entry);
  return { key: entry.key, state, since, receipt };
};

/** The id of the scheduled email that a receipt is of. */
export const scheduledIdOf = (operation: string | undefined, receipt: unknown): string | undefined => {
  const { id }: Record<string, unknown> = Object(receipt);
  return operation === "emails.schedule" && typeof id === "string" ? id : undefined;
};

/** How to store a settlement by hand; undefined if it may change nothing. */
export const settledByHand = (entry: LedgerEntry, as: Settlement, force = false): Settling | undefined => {
  if (aged(entry).state === "pending" && !force) return undefined;
  // The scheduled email may have been cancelled.
  return { as, over: as !== "sent" && scheduledIdOf(entry.operation, entry.receipt) !== undefined };
};

const isSettlement = isOneOf("sent", "not-sent", "unknown");

const detailRules: Rules = {
  claim: must("the claim that ledger.claim returned", (claim) => typeof claim === "string"),
  force: isFlag,
  receipt: must(
    "JSON of at most 64 KiB, nested 64 levels at most",
    (receipt) => receiptText(receipt) !== undefined,
  ),
};

/** @throws ValidationError for a key that is not a string. */
export const checkKey = (method: string, key: unknown): void =>
  refuseFaults(`ledger.${method}`, isString(key, "the key"));

/** @throws ValidationError naming every fault of the arguments of a settlement. */
export const checkSettling = (key: unknown, settlement: unknown, details: unknown): void =>
  refuseFaults("ledger.settle", [
    ...isString(key, "the key"),
    ...isSettlement(settlement, "the settlement"),
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

const isTime: Rule = (since, name) => {
  if (!Number.isNaN(sinceMs(since))) return [];
  const isOther = typeof since === "object" && since !== null && epochMsOf(since) === undefined;
  const shape = `${sinceShape}, got ${shown(since)}`;
  return [`${name} ${isOther ? momentObjectFault(since, shape) : shape}`];
};

const filterRules: Rules = { state: isOneOf("pending", "unknown", "sent"), since: isTime };

/**
 * Converts a filter to a function that says whether a row passes.
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

/** For the second argument of `memoryLedger` and `fileLedger`: an untyped caller may take it for options. */
export const isClock: Rule = (clock) =>
  can(clock, "wallTime")
    ? []
    : ["there are no options. Leave the clock argument out, or pass an object with a wallTime() method"];
