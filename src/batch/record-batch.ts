import type { Call } from "../call/call.ts";
import { invalid, throwIfInvalid, withOperation } from "../call/request.ts";
import { type Issue, TouchpointError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { describeIssues } from "../service/check.ts";
import { type EventInput, maxEventsPerRequest, readEvent } from "../service/events.ts";
import { operations } from "../service/operations.ts";
import type { BatchItemResult, IndexedEvent } from "./batch-answer.ts";
import { inChunks } from "./in-flight.ts";
import { type BatchSending, sendBatch } from "./send-batch.ts";

/** The result of recording any number of events. */
export interface BatchReport {
  /** The number of recorded events, including repeated ones. */
  readonly accepted: number;
  /** The number of events that were refused, or whose result is unknown: see `state` and `error` of their results. */
  readonly rejected: number;
  /** One result per event, in the order of the input: `results[i].index === i`. */
  readonly results: readonly BatchItemResult[];
}

const requestsAtOnce = 4;

const operation = "events.recordBatch";

/**
 * Adds a refusal to the results for each invalid event. The valid events are not affected.
 *
 * @returns the paths of the invalid fields.
 * @throws ValidationError naming every fault, if no event is valid.
 */
const refuseInvalid = async (
  events: readonly EventInput[],
  results: BatchItemResult[],
  call: Call,
): Promise<readonly string[]> => {
  const faults: Issue[] = [];
  for (const [index, event] of events.entries()) {
    const reading = call.issues(operations.events.record, event);
    // `issues` returns a promise only if the workspace has schemas, so that a million events can be checked without
    // promises.
    const issues = reading instanceof Promise ? await reading : reading;
    if (issues.length === 0) continue;
    results[index] = { index, status: 400, state: "refused", error: describeIssues(issues) };
    for (const { path, message } of issues)
      faults.push({ path: `events[${index}]${path && "."}${path}`, message });
  }
  if (events.every((_, index) => results[index] !== undefined)) throwIfInvalid(operation, faults);
  return faults.map(({ path }) => path);
};

/** Records any number of events, 100 per request. It checks every event before it sends the first one. */
export const recordBatch = async (
  inputs: readonly EventInput[],
  { call, options: callOptions }: BatchSending,
): Promise<BatchReport> => {
  if (!Array.isArray(inputs)) throw invalid(operation, "events", "must be an array");
  const events: readonly EventInput[] = inputs.map(readEvent);
  const { log } = call.context.settings;
  let indexed: readonly IndexedEvent[] = [];
  const results: BatchItemResult[] = [];
  const work = async (part: Call, options: CallOptions): Promise<void> => {
    try {
      const fields = await refuseInvalid(events, results, part);
      if (fields.length > 0) log.warn("invalid events are not sent", { operation, fields });
    } catch (error) {
      throw withOperation(operation, error);
    }
    // Add missing ids here, outside of every retry, so that a retry sends the same id.
    indexed = events.flatMap((event, index) =>
      results[index] === undefined ? { index, event: { ...event, id: event.id ?? crypto.randomUUID() } } : [],
    );
    const sending = { call: part, options };
    await inChunks(indexed, { size: maxEventsPerRequest, limit: requestsAtOnce }, async (chunk) => {
      for (const result of await sendBatch(chunk, sending)) results[result.index] = result;
    });
  };
  try {
    await call.run(operation, callOptions, work);
  } catch (error) {
    if (error instanceof TouchpointError && indexed.length > 0) {
      // Return the remaining events with their ids, so that the caller can safely send them again.
      const left = indexed.filter(({ index }) => results[index] === undefined).map(({ event }) => event);
      error.partial = { results: results.filter((result) => result !== undefined), left };
    }
    throw error;
  }
  const accepted = results.filter(({ state }) => state === "recorded").length;
  return { accepted, rejected: results.length - accepted, results };
};
