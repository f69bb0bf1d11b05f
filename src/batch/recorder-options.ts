import {
  mustBeAtLeast,
  mustBeFunction,
  mustBeWhole,
  type Rules,
  readOptions,
  refuseSetup,
  ruleFaults,
} from "../runtime/rules.ts";
import { type EventOutcome, maxEventsPerRequest } from "../service/events.ts";
import type { GivenEvent } from "../workspace/event-types.ts";

/** An event that the recorder accepted but could not record, and the error. */
export interface DroppedEvent {
  /** The event. It has an id if it may have been sent, so you can safely send it again. */
  readonly event: GivenEvent;
  /** The error with which the promise of `record` was rejected. */
  readonly error: unknown;
}

/** A recorded event, and its outcome. */
export interface OutcomeOfEvent {
  /** The event with its id. */
  readonly event: GivenEvent;
  /** The number of events that this recorder got before this one. */
  readonly index: number;
  readonly outcome: EventOutcome;
}

/** Options of a recorder. */
export interface RecorderOptions {
  /**
   * The maximum number of events per request, 1–100. Default: as many as the events limit allows at once, at most 100.
   */
  readonly maxBatch?: number;
  /** The maximum time that an event waits for other events, in milliseconds. Default 50. */
  readonly maxDelayMs?: number;
  /**
   * Called for every event whose request failed permanently, or that was not sent before the client closed. If you set
   * this callback, an ignored promise of `record` is not an unhandled rejection.
   */
  readonly onDrop?: (dropped: DroppedEvent) => unknown;
  /** Called for every recorded event with the service's outcome. If this returns a promise, `close` waits for it. */
  readonly onOutcome?: (recorded: OutcomeOfEvent) => unknown;
  /**
   * Called with a promise for every event. The promise resolves when the event is settled, and never rejects. Use it on
   * platforms that freeze a function after its response (`ctx.waitUntil`).
   */
  readonly waitUntil?: (promise: Promise<void>) => void;
}

/** The options with their defaults. */
export type RecorderSettings = RecorderOptions & Required<Pick<RecorderOptions, "maxBatch" | "maxDelayMs">>;

const rules: Rules = {
  maxBatch: mustBeWhole(1, maxEventsPerRequest),
  maxDelayMs: mustBeAtLeast(0),
  onDrop: mustBeFunction,
  onOutcome: mustBeFunction,
  waitUntil: mustBeFunction,
};

/** @throws ConfigurationError naming every fault at once. */
export const recorderSettings = (
  input: RecorderOptions | null,
  eventsAtOnce = maxEventsPerRequest,
): RecorderSettings => {
  const options = readOptions(input, rules);
  refuseSetup("events.recorder", ruleFaults(options, rules));
  const { maxBatch = Math.min(maxEventsPerRequest, eventsAtOnce), maxDelayMs = 50 } = options;
  return { ...options, maxBatch, maxDelayMs };
};
