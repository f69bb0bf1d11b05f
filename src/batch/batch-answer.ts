import { sentenceOf } from "../http/error-from.ts";
import { isUnclearStatus } from "../http/retry-policy.ts";
import { isRecord } from "../runtime/values.ts";
import type { BatchAnswer, EventInput, EventOutcome } from "../service/events.ts";

/** The fields that every result of a batch has. */
interface AnyResult {
  /** The position of the event in the input. */
  readonly index: number;
  /**
   * The status of the event: 2xx if it was recorded (202 if its result has no status), 400 if it was invalid and not
   * sent, 0 if its result is missing or has no usable status.
   */
  readonly status: number;
}

/** An event of a batch that was recorded. */
export interface RecordedResult extends AnyResult {
  /** Distinguishes recorded, refused and unknown events. */
  readonly state: "recorded";
  /**
   * The id in the service's result, which can differ from your `id`. If the result has no id, this is your `id`. Use
   * `index` to find the event.
   */
  readonly id: string;
  /** The event's name. */
  readonly name: string;
  /** What the service did with the event: `PROCESSED`, `NO_CONTACT` or `TOO_OLD`. */
  readonly outcome: EventOutcome;
  /** The number of automation runs that the event started. */
  readonly runsStarted: number;
  /** Whether an event with this id was recorded before. */
  readonly duplicate: boolean;
}

/** An event of a batch that was not recorded: the service refused it, or it was invalid and therefore not sent. */
export interface RefusedResult extends AnyResult {
  /** Distinguishes recorded, refused and unknown events. */
  readonly state: "refused";
  /** Why the event was not recorded. */
  readonly error: string;
}

/** An event of a batch with an unknown result. You can safely send it again under its id. */
export interface UnknownResult extends AnyResult {
  /** Distinguishes recorded, refused and unknown events. */
  readonly state: "unknown";
  /**
   * The error message of the service. Without a readable message, the result as JSON, shortened. Without a result, a
   * sentence that says so.
   */
  readonly error: string;
}

/** The result of one event of a batch. `state` distinguishes the kinds. */
export type BatchItemResult = RecordedResult | RefusedResult | UnknownResult;

/** An event with its id and its position in the caller's input. */
export interface IndexedEvent {
  readonly index: number;
  readonly event: EventInput;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const noResult = "the service returned no result for this event";

/** Whether the service returned no result for this event. */
export const isMissing = (result: BatchItemResult): boolean =>
  result.state === "unknown" && result.status === 0 && result.error === noResult;

/** Whether a result shows a failure in any known form. */
const showsFailure = (item: Readonly<Record<string, unknown>>): boolean =>
  (item.error ?? undefined) !== undefined ||
  "errors" in item ||
  item.ok === false ||
  item.success === false ||
  sentenceOf(item) !== undefined;

// The shape of a failed result is not documented, so read every known field and require none.
const statusOf = (item: Readonly<Record<string, unknown>>): number => {
  const status = Number(item.status);
  if (Number.isInteger(status) && status >= 100) return status;
  // A sign of failure outweighs an id, because a failed item may echo the caller's id. Without a status, the failure
  // may be temporary. Sending the event again under its id is harmless.
  if (showsFailure(item)) return 0;
  // The event is recorded, by this request or an earlier one.
  if (item.duplicate === true) return 202;
  if ((item.status ?? undefined) !== undefined) return 0;
  // Status 0 means that the event is sent again, which is harmless.
  return typeof item.id === "string" || typeof item.outcome === "string" ? 202 : 0;
};

const longestJson = 500;

const asJson = (item: unknown): string => {
  try {
    const text = JSON.stringify(item);
    return text.length > longestJson ? `${text.slice(0, longestJson)}…` : text;
  } catch {
    return "a result that is nested too deeply to show";
  }
};

const recordedResult = (item: unknown, { index, event }: IndexedEvent, status: number): BatchItemResult => {
  const { error: _none, ...reported }: Partial<RecordedResult> & { error?: unknown } = Object(item);
  const { id, name } = event;
  const complete = {
    id: reported.id ?? id,
    name: reported.name ?? name,
    duplicate: reported.duplicate ?? false,
  };
  // Return the service's other fields unchanged. Some may be missing.
  return { ...reported, ...complete, index, status, state: "recorded" } as RecordedResult;
};

/** @param isAccepted - whether the event counts as recorded even without a readable result. */
const resultOf = (item: unknown, sent: IndexedEvent, isAccepted: boolean): BatchItemResult => {
  const { index } = sent;
  const status = isRecord(item) ? statusOf(item) : 0;
  if (isSuccess(status) || isAccepted) return recordedResult(item, sent, isSuccess(status) ? status : 202);
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
 * Matches results to events, by their ids or by their order. According to the service's document, results come in
 * request order. Ids are safer, but only if every id in the results was sent, and no id occurs twice. Otherwise, the
 * ids may be ones that the service generated.
 */
const itemsOf = (events: readonly IndexedEvent[], items: readonly unknown[]): readonly unknown[] => {
  const sent = events.map(({ event }) => event.id);
  const withId = items.filter((item) => idOf(item) !== undefined);
  const ids = withId.map(idOf);
  const areOurs = ids.every((id) => sent.includes(id));
  const canMatch = areOurs && isDistinct(sent) && isDistinct(ids);
  const isInOrder =
    items.length === events.length &&
    items.every((item, index) => (idOf(item) ?? sent[index]) === sent[index]);
  if (canMatch && !isInOrder) return sent.map((id) => withId[ids.indexOf(id)]);
  // If there are too few or too many results, nobody knows which result belongs to which event.
  return items.length === events.length ? items : [];
};

const isFailure = (status: number): boolean => status !== 0 && !isSuccess(status);

/** Whether `accepted` is the number of events, and no readable result shows a failure. */
const areAllAccepted = (
  answer: BatchAnswer | undefined,
  eventCount: number,
  items: readonly unknown[],
): boolean => {
  const { accepted, rejected }: { accepted?: unknown; rejected?: unknown } = Object(answer);
  const isComplete = Number(accepted) === eventCount && !(Number(rejected) > 0);
  return (
    isComplete && !items.some((item) => isRecord(item) && (isFailure(statusOf(item)) || showsFailure(item)))
  );
};

/**
 * Reads the result of each event from the response to a batch, in order.
 *
 * If `accepted` is the number of events and no result shows a failure, missing or unreadable results count as recorded.
 * Otherwise, returns undefined if `results` is not an array.
 */
export const readBatchAnswer = (
  events: readonly IndexedEvent[],
  answer: BatchAnswer | undefined,
): readonly BatchItemResult[] | undefined => {
  const results: unknown = answer?.results;
  const all: readonly unknown[] = Array.isArray(results) ? results : [];
  const items = itemsOf(events, all);
  const isAccepted = areAllAccepted(answer, events.length, all);
  if (!isAccepted && !Array.isArray(results)) return undefined;
  return events.map((event, index) => resultOf(items[index], event, isAccepted));
};
