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
  /** The differences from an ordinary request. */
  readonly plan?: PlanChange | undefined;
  readonly options: CallOptions;
}

const maxRepeats = 4;

/** Whether the event failed for a temporary reason. */
export const hasFailedTemporarily = ({ status }: BatchItemResult): boolean =>
  status === 0 || isTemporaryStatus(status);

const mayBeRecorded = ({ state }: BatchItemResult): boolean => state !== "refused";

/**
 * After an attempt with an unknown result, a temporary refusal of a retry doesn't show whether the first attempt was
 * recorded, so the state stays `unknown`.
 */
const afterUnclear = (result: BatchItemResult): BatchItemResult =>
  result.state === "refused" && hasFailedTemporarily(result) ? { ...result, state: "unknown" } : result;

/** Adds a hint to a refused event: the service may have refused the event's time because the two clocks differ. */
const withClockHint = (result: BatchItemResult, hint: string): BatchItemResult =>
  result.state === "refused" && result.status === 400
    ? { ...result, error: `${result.error} (${hint})` }
    : result;

const sendOnce = async (
  events: readonly IndexedEvent[],
  { call, options, plan }: BatchSending,
): Promise<readonly BatchItemResult[]> => {
  const payload = { events: events.map(({ event }) => event) };
  // `readBatchAnswer` accepts any value in place of a BatchAnswer.
  const hasEffect = (body: unknown): boolean =>
    readBatchAnswer(events, body as BatchAnswer)?.some(mayBeRecorded) ?? true;
  const input = { payload, hasEffect, plan: { ...plan, isDivisible: true } };
  const { data, response } = await sendRequest(
    call,
    operations.events.recordBatch,
    input,
    options,
  ).withResponse();
  const answer = readBatchAnswer(events, data);
  if (answer === undefined) {
    const issues = [{ path: "results", message: "must be an array" }];
    const { status } = response;
    throw call.error(ResponseValidationError, "the response has no results", { status, issues });
  }
  const hint = clockHint({ date: response.headers.get("date") ?? undefined }, call.clock.wallTime());
  const results = hint === undefined ? answer : answer.map((result) => withClockHint(result, hint));
  return response.attempts > 1 ? results.map(afterUnclear) : results;
};

/**
 * Sends up to 100 events, each with an id, and retries only those that failed for a temporary reason (429, 5xx, no
 * result or an unreadable one). Because of its id, a repeated event is recorded once. The call's `maxRetries` limits
 * these retries, too.
 *
 * @returns one result per event, in the order of the input.
 */
export const sendBatch = async (
  events: readonly IndexedEvent[],
  sending: BatchSending,
): Promise<readonly BatchItemResult[]> => {
  if (events.length === 0) return [];
  const { call, options } = sending;
  const results = new Map<number, BatchItemResult>();
  const repeats = Math.min(maxRepeats, options.maxRetries ?? call.context.settings.maxRetries);
  let remaining = events;
  await inRounds(call, 1 + repeats, async () => {
    await inHalves(remaining, {
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
    remaining = remaining.filter(({ index }) => {
      const result = results.get(index);
      return result !== undefined && hasFailedTemporarily(result);
    });
    return remaining.length === 0;
  });
  // Every round returns a result for each event that it sends.
  return events.flatMap(({ index }) => results.get(index) ?? []);
};
