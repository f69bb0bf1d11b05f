import {
  isAtLeast,
  isCallback,
  isWhole,
  type Rules,
  readOptions,
  refuseSetup,
  ruleFaults,
} from "../runtime/rules.ts";
import { type EventOutcome, maxEventsPerRequest } from "../service/events.ts";
import type { GivenEvent } from "../workspace/event-types.ts";

/** An event that was accepted but not recorded, and why. */
export interface DroppedEvent {
  /** The event with its id, so that you can safely send it again. */
  readonly event: GivenEvent;
  /** The error that the caller's promise was rejected with. */
  readonly error: unknown;
}

/** An event that was recorded, and what the service did with it. */
export interface OutcomeOfEvent {
  /** The event with its id. */
  readonly event: GivenEvent;
  /** How many events this recorder has been given before it. */
  readonly index: number;
  readonly outcome: EventOutcome;
}

/** Options of a recorder. */
export interface RecorderOptions {
  /** The most events per request, 1–100. Default: as many as the events limit allows at once, at most 100. */
  readonly maxBatch?: number;
  /** How long an event waits for others at most, in milliseconds. Default 50. */
  readonly maxDelayMs?: number;
  /** Events taken and not yet settled; at that many `record` waits for room. Default 10,000. */
  readonly maxPending?: number;
  /**
   * Called for every event whose request failed for good. If you set it, an ignored promise of `record` is not an
   * unhandled rejection.
   */
  readonly onDrop?: (dropped: DroppedEvent) => unknown;
  /** Called for every event that was recorded, with the service's outcome. `close` waits for the promise that it returns. */
  readonly onOutcome?: (recorded: OutcomeOfEvent) => unknown;
  /**
   * Called with a promise for every event, which resolves when the event is settled and never rejects: for platforms
   * that freeze a function after its response (`ctx.waitUntil`).
   */
  readonly waitUntil?: (promise: Promise<void>) => void;
}

/** The options with their defaults. */
export type RecorderSettings = RecorderOptions &
  Required<Pick<RecorderOptions, "maxBatch" | "maxDelayMs" | "maxPending">>;

const rules: Rules = {
  maxBatch: isWhole(1, maxEventsPerRequest),
  maxDelayMs: isAtLeast(0),
  maxPending: isWhole(1),
  onDrop: isCallback,
  onOutcome: isCallback,
  waitUntil: isCallback,
};

/** @throws ConfigurationError naming every fault at once. */
export const recorderSettings = (
  input: RecorderOptions | null,
  eventsAtOnce = maxEventsPerRequest,
): RecorderSettings => {
  const options = readOptions(input, rules);
  refuseSetup("events.recorder", ruleFaults(options, rules));
  const {
    maxBatch = Math.min(maxEventsPerRequest, eventsAtOnce),
    maxDelayMs = 50,
    maxPending = 10_000,
  } = options;
  return { ...options, maxBatch, maxDelayMs, maxPending };
};
