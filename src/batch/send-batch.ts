import type { Call } from "../call/executor.ts";
import { ApiError, ResponseValidationError } from "../errors.ts";
import { BatchTooLarge } from "../http/types.ts";
import type { CallOptions } from "../options/options.ts";
import type { Priority } from "../options/priority.ts";
import type { Clock } from "../runtime/clock.ts";
import { operations } from "../service/operations.ts";
import { type BatchItemResult, type IndexedEvent, readBatchAnswer } from "./batch-answer.ts";
import { EffectTracker } from "./with-deadline.ts";

export interface BatchSending {
  readonly call: Call;
  readonly clock: Clock;
  /** Tracks the effect of every request. */
  readonly effect?: EffectTracker | undefined;
  /** The default; the call's and the client's priority override it. */
  readonly priority?: Priority | undefined;
  /** Allowed while the client closes. */
  readonly isDrained?: boolean | undefined;
  /** Called with the reason of the wait before a retry, and with undefined when it ends. */
  readonly onWait?: ((waitingFor: string | undefined) => void) | undefined;
  readonly options: CallOptions;
}

const mostRepeats = 4;
const firstWaitMs = 500;

/** Failed for a temporary reason. */
export const isWorthARepeat = ({ status }: BatchItemResult): boolean =>
  status === 0 || status === 429 || status >= 500;

/** What the requests for one batch have shown so far. */
interface Shown {
  /** Whether some of the events may be recorded. */
  isUnclear: boolean;
}

const mayBeRecorded = ({ state }: BatchItemResult): boolean => state !== "refused";

const sendOnce = async (
  events: readonly IndexedEvent[],
  { call, options, priority, isDrained, effect = new EffectTracker() }: BatchSending,
  shown: Shown,
): Promise<readonly BatchItemResult[]> => {
  const payload = { events: events.map(({ event }) => event) };
  const wasUnclear = shown.isUnclear;
  const input = { payload, wasUnclear, priority, isDrained, isDivisible: true };
  const sent = async () => {
    const { data, response } = await call(operations.events.recordBatch, input, options).withResponse();
    const results = readBatchAnswer(events, data);
    if (results === undefined) {
      throw new ResponseValidationError("events.recordBatch: the answer holds no results", {
        operation: operations.events.recordBatch.id,
        outcome: "unknown",
        attempts: response.attempts,
        status: response.status,
        issues: [{ path: "results", message: "must be an array" }],
      });
    }
    // It is unknown what an attempt before the answered one has recorded.
    return { results, isUnclear: response.attempts > 1 || results.some(mayBeRecorded) };
  };
  const { results, isUnclear } = await effect.of(sent(), (answer) => answer.isUnclear);
  shown.isUnclear ||= isUnclear;
  return results;
};

// A batch that is refused for one event, or for its size, must not fail the other events.
const isAboutContent = (error: unknown): boolean =>
  error instanceof ApiError && [400, 413, 422].includes(error.status);

const sendOrSplit = async (
  events: readonly IndexedEvent[],
  sending: BatchSending,
  shown: Shown,
): Promise<readonly BatchItemResult[]> => {
  try {
    return await sendOnce(events, sending, shown);
  } catch (error) {
    if (error instanceof BatchTooLarge) return sendInTwo(events, error.most, sending, shown);
    if (!(error instanceof ApiError) || !isAboutContent(error)) throw error;
    const [only] = events;
    if (events.length === 1 && only !== undefined) {
      return [{ index: only.index, status: error.status, state: "refused", error: error.message }];
    }
    return sendInTwo(events, Math.ceil(events.length / 2), sending, shown);
  }
};

const sendInTwo = async (
  events: readonly IndexedEvent[],
  at: number,
  ...how: [sending: BatchSending, shown: Shown]
): Promise<readonly BatchItemResult[]> => {
  const first = await sendOrSplit(events.slice(0, at), ...how);
  return [...first, ...(await sendOrSplit(events.slice(at), ...how))];
};

/**
 * Sends up to 100 events, each with an id, and retries only those that failed for a temporary reason (429, 5xx, no
 * result or an unreadable one). Under its id, a repeated event is recorded once. The call's `maxRetries` limits these
 * retries too.
 *
 * @returns one result per event, in the given order.
 */
export const sendBatch = async (
  events: readonly IndexedEvent[],
  sending: BatchSending,
): Promise<readonly BatchItemResult[]> => {
  const results = new Map<number, BatchItemResult>();
  const { maxRetries = mostRepeats } = sending.options;
  const rounds = 1 + Math.min(mostRepeats, maxRetries);
  const shown = { isUnclear: false };
  let left = events;
  for (let round = 1; left.length > 0; round += 1) {
    for (const result of await sendOrSplit(left, sending, shown)) results.set(result.index, result);
    left = left.filter(({ index }) => {
      const result = results.get(index);
      return result !== undefined && isWorthARepeat(result);
    });
    if (left.length === 0 || round === rounds) break;
    sending.onWait?.("retry");
    try {
      await sending.call.sleep(sending.clock, firstWaitMs * 2 ** (round - 1), sending.options.signal);
    } finally {
      sending.onWait?.(undefined);
    }
  }
  // Every round returns a result for each event that it sends.
  return events.flatMap(({ index }) => results.get(index) ?? []);
};
