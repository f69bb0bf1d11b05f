import { type Call, withOperation } from "../call/executor.ts";
import { invalid } from "../call/request.ts";
import { type Issue, TouchpointError, ValidationError } from "../errors.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import { snapshot } from "../runtime/values.ts";
import { describeIssues } from "../service/check.ts";
import { type EventInput, maxEventsPerRequest } from "../service/events.ts";
import { operations } from "../service/operations.ts";
import type { BatchItemResult, IndexedEvent } from "./batch-answer.ts";
import { InFlight } from "./in-flight.ts";
import { type BatchSending, sendBatch } from "./send-batch.ts";
import { EffectTracker, withDeadline } from "./with-deadline.ts";

/** The result of recording any number of events. */
export interface BatchReport {
  /** Events that are recorded, including repeated ones. */
  readonly accepted: number;
  /** Events that were refused, or whose result is unknown: see `state` and `error` of their results. */
  readonly rejected: number;
  /** One result per event, in the given order; `results[i].index === i`. */
  readonly results: readonly BatchItemResult[];
}

const requestsAtOnce = 4;

/** Splits a list into parts of at most `size`. */
const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));

const operation = "events.recordBatch";

const checkAll = async (
  events: readonly EventInput[],
  call: Call,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const issues: Issue[] = [];
  for (const [index, event] of events.entries()) {
    const found = call.issues(operations.events.record, event);
    // A promise only if the workspace has schemas; otherwise a million events are checked without creating promises.
    for (const { path, message } of found instanceof Promise ? await untilAborted(found, signal) : found)
      issues.push({ path: `events[${index}]${path && "."}${path}`, message });
  }
  if (issues.length > 0)
    throw new ValidationError(`${operation}: ${describeIssues(issues)}`, { operation, issues });
};

/** Adds missing ids here, above every retry. */
const withIds = (events: readonly EventInput[]): readonly IndexedEvent[] =>
  events.map((event, index) => ({
    index,
    event: event.id === undefined ? { ...event, id: crypto.randomUUID() } : event,
  }));

/** Records any number of events, 100 per request; every event is checked before the first is sent. */
export const recordBatch = async (
  given: readonly EventInput[],
  { call, clock, options }: BatchSending,
): Promise<BatchReport> => {
  if (!Array.isArray(given)) throw invalid(operation, "events", "must be an array");
  const events: readonly EventInput[] = snapshot(given);
  let indexed: readonly IndexedEvent[] = [];
  const results: BatchItemResult[] = [];
  const effect = new EffectTracker();
  const work = async (part: Call, signal: AbortSignal | undefined): Promise<void> => {
    try {
      await checkAll(events, call, signal);
    } catch (error) {
      throw withOperation(operation, error);
    }
    indexed = withIds(events);
    const sending = { call: part, clock, effect, options: { ...options, signal } };
    const flight = new InFlight(requestsAtOnce);
    for (const chunk of chunksOf(indexed, maxEventsPerRequest)) {
      await flight.add(async () => {
        for (const result of await sendBatch(chunk, sending)) results[result.index] = result;
      });
    }
    await flight.settled();
  };
  try {
    await call.group(operation, options, (part, { signal }) =>
      withDeadline({ operation, signal, effect, clock }, () => work(part, signal)),
    );
  } catch (error) {
    if (error instanceof TouchpointError && indexed.length > 0) {
      // With their ids, so that the rest can safely be sent again.
      const left = indexed.filter(({ index }) => results[index] === undefined).map(({ event }) => event);
      error.partial = { results: results.filter((result) => result !== undefined), left };
    }
    throw error;
  }
  const accepted = results.filter(({ state }) => state === "recorded").length;
  return { accepted, rejected: results.length - accepted, results };
};
