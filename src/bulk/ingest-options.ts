import type { Call } from "../call/executor.ts";
import type { CallOptions } from "../options/options.ts";
import type { Clock } from "../runtime/clock.ts";
import type { GivenEvent } from "../workspace/event-types.ts";
import type { CheckpointStore } from "./checkpoint.ts";
import type { Pace } from "./forecast.ts";
import type { Progress } from "./progress.ts";

/** An event that was not recorded. */
export interface RejectedEvent<Event = GivenEvent> {
  /** As the source gave it. */
  readonly event: Event;
  /** Its place in the source, counted from 0. */
  readonly index: number;
  /** Its line in the file that it was read from; undefined where there is none. */
  readonly line?: number | undefined;
  /** The service's status for it; undefined when it was never sent. */
  readonly status: number | undefined;
  /** The service's sentence, or what is wrong with the event. */
  readonly error: string;
}

/** How an ingestion goes, beside what every call may set. */
export interface IngestOptions<Event = GivenEvent> extends CallOptions {
  /**
   * The whole run, in milliseconds: at its end the run rejects with a TimeoutError, the checkpoint stands, and
   * starting it again goes on from there. Without it a run may last as long as its source, and the client's own
   * `totalTimeoutMs` bounds each request.
   */
  readonly totalTimeoutMs?: number | undefined;
  /** A path, or a store of one's own: how far the run has come, so that it can be killed and started again. */
  readonly checkpoint?: string | CheckpointStore | undefined;
  /** Events a request at most, 1–100. Default: 100. It is never more than the events budget lets through at once. */
  readonly batchSize?: number | undefined;
  /**
   * Requests under way at once. Default 4: the order of the source is kept within a batch, but not between batches.
   * With 1 it is kept, but for an event that failed for a passing reason: it is repeated behind the rest of its batch.
   */
  readonly concurrency?: number | undefined;
  /**
   * The id of an event that has none; the same on every run. Default: made of the content, so that equal events are one
   * for ever. With `{ source: "logins-2026-11.ndjson" }` it is made of that name, the line (or place) and the content:
   * equal lines are events of their own, and lines of two sources never share an id.
   */
  readonly idFrom?: ((event: Event, index: number) => string) | { readonly source: string } | undefined;
  /** How many events the source has, where it is no array: for the time left in `onProgress`. */
  readonly total?: number | undefined;
  /** Events that happened longer ago are not sent but told to `onRejected`, in milliseconds; 72 h is the service's
   * own limit, behind which an event starts nothing. Default: all are sent. */
  readonly maxAgeMs?: number | undefined;
  /**
   * What happens when the service's limit of a day is used up, here or by its own `Retry-After`. `"error"`, the default:
   * the run rejects with a RateLimitError, and goes on from its checkpoint when it is started again. `"wait"`: the run
   * waits, for up to 24 hours, and goes on by itself; `signal`, `totalTimeoutMs` and `close()` end the wait.
   */
  readonly onDayUsedUp?: "error" | "wait" | undefined;
  /** Called at most ten times a second, and at the end. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called, and awaited, once for each event that was not recorded. */
  readonly onRejected?: ((rejected: RejectedEvent<Event>) => void | Promise<void>) | undefined;
}

/** What each request of a run is sent with; `signal` is the run's own, which aborts at its deadline too. */
export const requestOptions = (
  { timeoutMs, totalTimeoutMs, maxRetries, headers }: CallOptions,
  signal: AbortSignal | undefined,
): CallOptions => ({ signal, timeoutMs, totalTimeoutMs, maxRetries, headers });

/** What an ingestion is given by the client. */
export interface IngestContext {
  readonly call: Call;
  readonly clock: Clock;
  /** How many events background work may send at once now. */
  readonly largestBatch: () => number;
  /** The limits, and how they stand. */
  readonly pace: () => Pace;
  /** The service's time as its answers tell it; undefined before the first. */
  readonly serviceNow: () => number | undefined;
}
