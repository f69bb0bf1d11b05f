import { isRecord } from "../runtime/values.ts";
import type { BatchAnswer, EventInput, EventOutcome } from "../service/events.ts";

/** What every result of a batch has. */
interface AnyResult {
  /** Its place in the events given. */
  readonly index: number;
  /** 202 when recorded; 0 when the service gave no result for it, or one that says neither yes nor no. */
  readonly status: number;
}

/** An event of a batch that was recorded. */
export interface RecordedResult extends AnyResult {
  /** Tells a recorded event from a refused and an unknown one. */
  readonly state: "recorded";
  /** The event's id, the caller's own or the one it was given. */
  readonly id: string;
  /** The event's name. */
  readonly name: string;
  /** What the service did with it: `PROCESSED`, `NO_CONTACT`, `TOO_OLD`, or another value. */
  readonly outcome: EventOutcome;
  /** Automation runs that it started. */
  readonly runsStarted: number;
  /** True where an event with this id was recorded before. */
  readonly duplicate: boolean;
}

/** An event of a batch that the service refused; it is not recorded. */
export interface RefusedResult extends AnyResult {
  /** Tells a refused event from a recorded and an unknown one. */
  readonly state: "refused";
  /** Why it was not recorded. */
  readonly error: string;
}

/** An event of a batch of which nobody knows; it may be sent again under its id. */
export interface UnknownResult extends AnyResult {
  /** Tells an unknown event from a recorded and a refused one. */
  readonly state: "unknown";
  /** What the service said: its sentence, or its result as JSON where that cannot be read. */
  readonly error: string;
}

/** What became of one event of a batch; `state` tells which it is. */
export type BatchItemResult = RecordedResult | RefusedResult | UnknownResult;

/** An event with its id, and its place in the caller's input. */
export interface IndexedEvent {
  readonly index: number;
  readonly event: EventInput;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const noResult = "the service gave no result for this event";

/** The service said nothing about this event, not even something that cannot be read. */
export const isMissing = (result: BatchItemResult): boolean =>
  result.state === "unknown" && result.status === 0 && result.error === noResult;

const sentence = (error: unknown): string | undefined => {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null) return undefined;
  const { message, error: inner }: { message?: unknown; error?: unknown } = error;
  return typeof message === "string" ? message : sentence(inner);
};

// The shape of a failed result is not documented: whatever it carries is read, and nothing is required of it.
const statusOf = (item: Readonly<Record<string, unknown>>): number => {
  const status = Number(item.status);
  if (Number.isInteger(status) && status >= 100) return status;
  // A sign of failure in whatever form outweighs an id: a failed item may well echo the caller's.
  if ((item.error ?? undefined) !== undefined || "errors" in item) return 400;
  if (item.ok === false || item.success === false) return 400;
  if (sentence(item) !== undefined) return 400;
  // Recorded by an earlier round, if by no other.
  if (item.duplicate === true) return 202;
  if ((item.status ?? undefined) !== undefined) return 0;
  // Taken for recorded only on a sign of it; without one it is asked for again, which does no harm.
  return typeof item.id === "string" || typeof item.outcome === "string" ? 202 : 0;
};

const longestJson = 500;

const asJson = (item: unknown): string => {
  const text = JSON.stringify(item);
  return text.length > longestJson ? `${text.slice(0, longestJson)}…` : text;
};

/** These tell which event it is and that it failed, not why. */
const tellNoReason = ["status", "id", "name", "ok", "success"];

/** Its sentence; without one all that it says, so that nobody has to guess. */
const reasonOf = (item: Readonly<Record<string, unknown>>, status: number): string => {
  const saysMore = Object.keys(item).some((field) => !tellNoReason.includes(field));
  return sentence(item.error) ?? sentence(item) ?? (saysMore ? asJson(item) : `status ${status}`);
};

const recorded = (item: unknown, { index, event }: IndexedEvent, status: number): BatchItemResult => {
  const { error: _none, ...said }: Partial<RecordedResult> & { error?: unknown } = Object(item);
  const { id, name } = event;
  const known = { id: said.id ?? id, name: said.name ?? name, duplicate: said.duplicate ?? false };
  // The rest is as it came: the answer's check has reported what is not there.
  return { ...said, ...known, index, status, state: "recorded" } as RecordedResult;
};

const resultOf = (item: unknown, sent: IndexedEvent): BatchItemResult => {
  const { index } = sent;
  const unknown = { index, status: 0, state: "unknown" } as const;
  if (item === undefined || item === null) return { ...unknown, error: noResult };
  if (!isRecord(item)) return { ...unknown, error: asJson(item) };
  const status = statusOf(item);
  if (status === 0) return { ...item, ...unknown, error: asJson(item) };
  if (isSuccess(status)) return recorded(item, sent, status);
  // A fault of the service may have come after the event was recorded.
  const state = status < 500 ? "refused" : "unknown";
  return { ...item, index, status, state, error: reasonOf(item, status) };
};

const idOf = (item: unknown): string | undefined =>
  isRecord(item) && typeof item.id === "string" ? item.id : undefined;

const isDistinct = (ids: readonly unknown[]): boolean => new Set(ids).size === ids.length;

/**
 * The item of each event. The document says that they come in request order; ids tell better, but only where every
 * one of them is an id that was sent: a result's id may as well be the service's own.
 */
const itemsOf = (events: readonly IndexedEvent[], items: readonly unknown[]): readonly unknown[] => {
  const sent = events.map(({ event }) => event.id);
  const known = items.filter((item) => idOf(item) !== undefined);
  const told = known.map(idOf);
  const areOurs = told.every((id) => sent.includes(id));
  const canMatch = areOurs && isDistinct(sent) && isDistinct(told);
  const isInOrder =
    items.length === events.length && items.every((item, at) => (idOf(item) ?? sent[at]) === sent[at]);
  if (canMatch && !isInOrder) return sent.map((id) => known[told.indexOf(id)]);
  // With one too few or too many nobody knows which is whose.
  return items.length === events.length ? items : [];
};

const isFailure = (status: number): boolean => status !== 0 && !isSuccess(status);

/** A count says that all were taken, and no result that can be read says that one was not. */
const isVouchedFor = (answer: BatchAnswer | undefined, count: number, items: readonly unknown[]): boolean => {
  const { accepted, rejected }: { accepted?: unknown; rejected?: unknown } = Object(answer);
  const isWhole = Number(accepted) === count && !(Number(rejected) > 0);
  return isWhole && !items.some((item) => isRecord(item) && isFailure(statusOf(item)));
};

/**
 * What a batch's answer says of each of its events, in their order; undefined where it cannot be told.
 *
 * Lenient: a count of `accepted` events that covers them all is taken for the results that are missing or say nothing.
 */
export const readBatchAnswer = (
  events: readonly IndexedEvent[],
  answer: BatchAnswer | undefined,
): readonly BatchItemResult[] | undefined => {
  const given: unknown = answer?.results;
  const all: readonly unknown[] = Array.isArray(given) ? given : [];
  const items = itemsOf(events, all);
  const results = events.map((event, at) => resultOf(items[at], event));
  if (isVouchedFor(answer, events.length, all))
    return events.map((event, at) => {
      const result = results[at];
      return result?.state === "recorded" ? result : recorded(items[at], event, 202);
    });
  return Array.isArray(given) ? results : undefined;
};
