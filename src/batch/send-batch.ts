import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import type { PlanChange } from "../call/request.ts";
import { ResponseValidationError } from "../errors.ts";
import { clockHint } from "../http/hints.ts";
import { inRounds } from "../http/retry-loop.ts";
import { isTemporaryStatus } from "../http/retry-policy.ts";
import type { CallOptions } from "../options/options.ts";
import type { BatchAnswer } from "../service/events.ts";
import { operations } from "../service/operations.ts";
import { type BatchItemResult, type IndexedEvent, readBatchAnswer } from "./batch-answer.ts";
import { inHalves } from "./in-halves.ts";

export interface BatchSending {
  readonly call: Call;
  /** What differs from an ordinary request. */
  readonly plan?: PlanChange | undefined;
  readonly options: CallOptions;
}

const mostRepeats = 4;

/** Failed for a temporary reason. */
export const isWorthARepeat = ({ status }: BatchItemResult): boolean =>
  status === 0 || isTemporaryStatus(status);

const mayBeRecorded = ({ state }: BatchItemResult): boolean => state !== "refused";

/** A limit that refuses a repeat does not say whether the event was recorded before. */
const afterUnclear = (result: BatchItemResult): BatchItemResult =>
  result.state === "refused" && isWorthARepeat(result) ? { ...result, state: "unknown" } : result;

/** An event with a time that the service refused, perhaps because that is in its future. */
const withClockHint = (result: BatchItemResult, hint: string): BatchItemResult =>
  result.state === "refused" && result.status === 400
    ? { ...result, error: `${result.error} (${hint})` }
    : result;

const sendOnce = async (
  events: readonly IndexedEvent[],
  { call, options, plan }: BatchSending,
): Promise<readonly BatchItemResult[]> => {
  const payload = { events: events.map(({ event }) => event) };
  // `read` has made it one.
  const hasEffect = (body: unknown): boolean =>
    readBatchAnswer(events, body as BatchAnswer)?.some(mayBeRecorded) ?? true;
  const input = { payload, hasEffect, plan: { ...plan, isDivisible: true } };
  const { data, response } = await sendRequest(
    call,
    operations.events.recordBatch,
    input,
    options,
  ).withResponse();
  const read = readBatchAnswer(events, data);
  if (read === undefined) {
    const issues = [{ path: "results", message: "must be an array" }];
    const { status } = response;
    throw call.error(ResponseValidationError, "the response holds no results", { status, issues });
  }
  const hint = clockHint({ date: response.headers.get("date") ?? undefined }, call.clock.wallTime());
  const results = hint === undefined ? read : read.map((result) => withClockHint(result, hint));
  return response.attempts > 1 ? results.map(afterUnclear) : results;
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
  if (events.length === 0) return [];
  const { call, options } = sending;
  const results = new Map<number, BatchItemResult>();
  const repeats = Math.min(mostRepeats, options.maxRetries ?? call.context.settings.maxRetries);
  let left = events;
  await inRounds(call, 1 + repeats, async () => {
    await inHalves(left, {
      signal: call.signal,
      work: async (events) => {
        for (const result of await sendOnce(events, sending)) {
          const wasUnclear = results.get(result.index)?.state === "unknown";
          results.set(result.index, wasUnclear ? afterUnclear(result) : result);
        }
      },
      onRefused: ({ index }, { status, message }) =>
        void results.set(index, { index, status, state: "refused", error: message }),
    });
    left = left.filter(({ index }) => {
      const result = results.get(index);
      return result !== undefined && isWorthARepeat(result);
    });
    return left.length === 0;
  });
  // Every round returns a result for each event that it sends.
  return events.flatMap(({ index }) => results.get(index) ?? []);
};
