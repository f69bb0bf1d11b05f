import type { Call } from "../call.ts";
import type { Clock } from "../clock.ts";
import { ApiError, ResponseValidationError } from "../errors.ts";
import { operations } from "../operations/index.ts";
import type { CallOptions } from "../options.ts";
import type { BatchAnswerItem, EventInput } from "../schemas/event.ts";

/** What became of one event of a batch. */
export interface BatchItemResult {
  /** Its place in the events given. */
  readonly index: number;
  /** 202 when recorded; 0 when the service gave no result for it. */
  readonly status: number;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly outcome?: BatchAnswerItem["outcome"];
  readonly runsStarted?: number | null | undefined;
  readonly duplicate?: boolean | null | undefined;
  /** Why it was not recorded. */
  readonly error?: string | undefined;
  readonly [field: string]: unknown;
}

/** An event with its id, and its place in the caller's input. */
export interface IndexedEvent {
  readonly index: number;
  readonly event: EventInput;
}

export interface BatchSending {
  readonly call: Call;
  readonly clock: Clock;
  readonly options: CallOptions;
}

export const isAccepted = ({ status }: BatchItemResult): boolean => status >= 200 && status < 300;

const rounds = 5;
const firstWaitMs = 250;

/** Failed for a reason that passes. */
export const isWorthARepeat = ({ status }: BatchItemResult): boolean =>
  status === 0 || status === 429 || status >= 500;

const sentence = (error: unknown): string | undefined => {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null) return undefined;
  const { message, error: inner }: { message?: unknown; error?: unknown } = error;
  return typeof message === "string" ? message : sentence(inner);
};

// The shape of a failed result is not documented: whatever it carries is read, and nothing is required of it.
const statusOf = (item: BatchAnswerItem): number => {
  const status = Number(item.status ?? Number.NaN);
  if (Number.isInteger(status) && status >= 100) return status;
  // A sign of failure in whatever form outweighs an id: a failed item may well echo the caller's.
  if ((item.error ?? undefined) !== undefined) return 400;
  if ("errors" in item || ("ok" in item && item.ok === false)) return 400;
  if (sentence(item.error) !== undefined || sentence(item) !== undefined) return 400;
  if ((item.status ?? undefined) !== undefined) return 0;
  // Taken for recorded only on a sign of it; without one it is asked for again, which does no harm.
  return typeof item.id === "string" || typeof item.outcome === "string" ? 202 : 0;
};

const resultOf = (item: BatchAnswerItem | null | undefined, index: number): BatchItemResult => {
  if (typeof item !== "object" || item === null) {
    return { index, status: 0, error: "the service gave no result for this event" };
  }
  const status = statusOf(item);
  const error = sentence(item.error) ?? sentence(item);
  const accepted = status >= 200 && status < 300;
  return { ...item, index, status, error: accepted ? undefined : (error ?? `status ${status}`) };
};

const sendOnce = async (
  events: readonly IndexedEvent[],
  { call, options }: BatchSending,
): Promise<readonly BatchItemResult[]> => {
  const payload = { events: events.map(({ event }) => event) };
  const sent = call(operations.events.recordBatch, { payload }, options);
  const { data: answer, response } = await sent.withResponse();
  const results: unknown = answer?.results;
  if (!Array.isArray(results)) {
    throw new ResponseValidationError("events.recordBatch: the answer holds no results", {
      operation: operations.events.recordBatch.id,
      outcome: "unknown",
      attempts: response.attempts,
      status: response.status,
      issues: [{ path: "results", message: "must be an array" }],
    });
  }
  return events.map(({ index }, at) => resultOf(results[at], index));
};

// A refusal of the whole batch for one event, or for its size, must not take the others with it.
const isAboutContent = (error: unknown): boolean =>
  error instanceof ApiError && [400, 413, 422].includes(error.status);

const sendOrSplit = async (
  events: readonly IndexedEvent[],
  sending: BatchSending,
): Promise<readonly BatchItemResult[]> => {
  try {
    return await sendOnce(events, sending);
  } catch (error) {
    if (!(error instanceof ApiError) || !isAboutContent(error)) throw error;
    const [only] = events;
    if (events.length === 1 && only !== undefined) {
      return [{ index: only.index, status: error.status, error: error.message }];
    }
    const half = Math.ceil(events.length / 2);
    const first = await sendOrSplit(events.slice(0, half), sending);
    return [...first, ...(await sendOrSplit(events.slice(half), sending))];
  }
};

/**
 * Sends up to 100 events, each with an id, and repeats only those that failed for a passing reason (429, 5xx, no
 * result): under their ids a repeat is recorded once.
 *
 * @returns a result per event, in the order given.
 */
export const sendBatch = async (
  events: readonly IndexedEvent[],
  sending: BatchSending,
): Promise<readonly BatchItemResult[]> => {
  const results = new Map<number, BatchItemResult>();
  let left = events;
  for (let round = 1; left.length > 0; round += 1) {
    for (const result of await sendOrSplit(left, sending)) results.set(result.index, result);
    left = left.filter(({ index }) => {
      const result = results.get(index);
      return result !== undefined && isWorthARepeat(result);
    });
    if (left.length === 0 || round === rounds) break;
    await sending.clock.sleep(firstWaitMs * 2 ** round, sending.options.signal);
  }
  return events.map(({ index }) => results.get(index) ?? resultOf(undefined, index));
};
