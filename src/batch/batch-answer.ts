import { sentenceOf } from "../http/error-from.ts";
import { isUnclearStatus } from "../http/retry-policy.ts";
import { isRecord } from "../runtime/values.ts";
import type { BatchAnswer, EventInput, EventOutcome } from "../service/events.ts";

/** What every result of a batch has. */
interface AnyResult {
  /** The position of the event in the given events. */
  readonly index: number;
  /** 202 if recorded; 0 if the service gave no result for it, or an unclear one. */
  readonly status: number;
}

/** An event of a batch that was recorded. */
export interface RecordedResult extends AnyResult {
  /** Distinguishes recorded, refused and unknown events. */
  readonly state: "recorded";
  /** The service's id of the recorded event; it need not be the `id` that you gave. `index` says which event it is. */
  readonly id: string;
  /** The event's name. */
  readonly name: string;
  /** What the service did with it: `PROCESSED`, `NO_CONTACT` or `TOO_OLD`. */
  readonly outcome: EventOutcome;
  /** Automation runs that it started. */
  readonly runsStarted: number;
  /** True if an event with this id was recorded before. */
  readonly duplicate: boolean;
}

/** An event of a batch that the service refused, or that was invalid and not sent; it is not recorded. */
export interface RefusedResult extends AnyResult {
  /** Distinguishes recorded, refused and unknown events. */
  readonly state: "refused";
  /** Why it was not recorded. */
  readonly error: string;
}

/** An event of a batch with an unknown result; you can safely send it again under its id. */
export interface UnknownResult extends AnyResult {
  /** Distinguishes recorded, refused and unknown events. */
  readonly state: "unknown";
  /** The service's sentence, or its result as JSON if that cannot be parsed. */
  readonly error: string;
}

/** The result of one event of a batch; `state` says which kind it is. */
export type BatchItemResult = RecordedResult | RefusedResult | UnknownResult;

/** An event with its id and its position in the caller's input. */
export interface IndexedEvent {
  readonly index: number;
  readonly event: EventInput;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const noResult = "the service returned no result for this event";

/** Whether the service returned nothing at all about this event. */
export const isMissing = (result: BatchItemResult): boolean =>
  result.state === "unknown" && result.status === 0 && result.error === noResult;

/** Whether a result says in any form that it is one of a failure. */
const showsFailure = (item: Readonly<Record<string, unknown>>): boolean =>
  (item.error ?? undefined) !== undefined ||
  "errors" in item ||
  item.ok === false ||
  item.success === false ||
  sentenceOf(item) !== undefined;

// The shape of a failed result is not documented: every known field is read, and none is required.
const statusOf = (item: Readonly<Record<string, unknown>>): number => {
  const status = Number(item.status);
  if (Number.isInteger(status) && status >= 100) return status;
  // A sign of failure outweighs an id: a failed item may echo the caller's id. Without a status, the failure need not be
  // for good: the event is sent again under its id, which is harmless.
  if (showsFailure(item)) return 0;
  // Recorded now or in an earlier round.
  if (item.duplicate === true) return 202;
  if ((item.status ?? undefined) !== undefined) return 0;
  // Counts as recorded only if there is a sign of it. Otherwise it is sent again, which is harmless.
  return typeof item.id === "string" || typeof item.outcome === "string" ? 202 : 0;
};

const longestJson = 500;

const asJson = (item: unknown): string => {
  try {
    const text = JSON.stringify(item);
    return text.length > longestJson ? `${text.slice(0, longestJson)}…` : text;
  } catch {
    return "a result that is nested too deep to be shown";
  }
};

const recorded = (item: unknown, { index, event }: IndexedEvent, status: number): BatchItemResult => {
  const { error: _none, ...said }: Partial<RecordedResult> & { error?: unknown } = Object(item);
  const { id, name } = event;
  const reported = { id: said.id ?? id, name: said.name ?? name, duplicate: said.duplicate ?? false };
  // Other fields are returned as they are; validation has reported missing ones.
  return { ...said, ...reported, index, status, state: "recorded" } as RecordedResult;
};

/** @param isVouchedFor - whether the event counts as recorded without a readable result. */
const resultOf = (item: unknown, sent: IndexedEvent, isVouchedFor: boolean): BatchItemResult => {
  const { index } = sent;
  const status = isRecord(item) ? statusOf(item) : 0;
  if (isSuccess(status) || isVouchedFor) return recorded(item, sent, isSuccess(status) ? status : 202);
  const unknown = { index, status: 0, state: "unknown" } as const;
  if (item === undefined || item === null) return { ...unknown, error: noResult };
  if (!isRecord(item)) return { ...unknown, error: asJson(item) };
  // A failure of the service may have happened after the event was recorded.
  const state = status === 0 || isUnclearStatus(status) ? "unknown" : "refused";
  const error = sentenceOf({ error: item.error }) ?? sentenceOf(item) ?? asJson(item);
  return { ...item, index, status, state, error };
};

const idOf = (item: unknown): string | undefined =>
  isRecord(item) && typeof item.id === "string" ? item.id : undefined;

const isDistinct = (ids: readonly unknown[]): boolean => new Set(ids).size === ids.length;

/**
 * The result of each event. The document says that results come in request order. Ids are a better match, but only if
 * every one of them is an id that was sent: a result's id could also be the service's own.
 */
const itemsOf = (events: readonly IndexedEvent[], items: readonly unknown[]): readonly unknown[] => {
  const sent = events.map(({ event }) => event.id);
  const withId = items.filter((item) => idOf(item) !== undefined);
  const ids = withId.map(idOf);
  const areOurs = ids.every((id) => sent.includes(id));
  const canMatch = areOurs && isDistinct(sent) && isDistinct(ids);
  const isInOrder =
    items.length === events.length && items.every((item, at) => (idOf(item) ?? sent[at]) === sent[at]);
  if (canMatch && !isInOrder) return sent.map((id) => withId[ids.indexOf(id)]);
  // With one result too few or too many, the assignment is unknown.
  return items.length === events.length ? items : [];
};

const isFailure = (status: number): boolean => status !== 0 && !isSuccess(status);

/** Whether the count says that all events were accepted, and no readable result says otherwise. */
const isVouchedFor = (answer: BatchAnswer | undefined, count: number, items: readonly unknown[]): boolean => {
  const { accepted, rejected }: { accepted?: unknown; rejected?: unknown } = Object(answer);
  const isWhole = Number(accepted) === count && !(Number(rejected) > 0);
  return (
    isWhole && !items.some((item) => isRecord(item) && (isFailure(statusOf(item)) || showsFailure(item)))
  );
};

/**
 * What the response to a batch says about each event, in order; undefined if unknown.
 *
 * Lenient: if `accepted` covers all events, missing or unreadable results count as recorded.
 */
export const readBatchAnswer = (
  events: readonly IndexedEvent[],
  answer: BatchAnswer | undefined,
): readonly BatchItemResult[] | undefined => {
  const results: unknown = answer?.results;
  const all: readonly unknown[] = Array.isArray(results) ? results : [];
  const items = itemsOf(events, all);
  const isVouched = isVouchedFor(answer, events.length, all);
  if (!isVouched && !Array.isArray(results)) return undefined;
  return events.map((event, at) => resultOf(items[at], event, isVouched));
};
