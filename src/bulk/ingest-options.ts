import type { EventOutcome } from "../service/events.ts";
import type { GivenEvent } from "../workspace/event-types.ts";
import type { SourcePlace, WorkOptions } from "./work-options.ts";

/** An event of a source, and its position. */
export interface EventPlace<Event = GivenEvent> extends SourcePlace {
  /** The event, as the source returned it. */
  readonly event: Event;
}

/** An event that was not recorded. */
export interface RejectedEvent<Event = GivenEvent> extends EventPlace<Event> {
  /** The service's status for it; undefined if it was never sent. */
  readonly status: number | undefined;
  /** The service's sentence, or what is wrong with the event. */
  readonly error: string;
}

/** An event that was recorded, and what the service did with it. */
export interface EventWithOutcome<Event = GivenEvent> extends EventPlace<Event> {
  readonly outcome: EventOutcome;
}

/** Options of an ingestion. */
export interface IngestOptions<Event = GivenEvent> extends WorkOptions {
  /** The most events per request, 1–100. Default 100. Never more than the events limit allows at once. */
  readonly batchSize?: number | undefined;
  /**
   * Requests in flight at once. Default 4: the order of the source is kept within a batch, but not between batches.
   * With 1 the order is kept, except for an event that failed for a temporary reason: it is retried after its batch.
   */
  readonly concurrency?: number | undefined;
  /**
   * The id of an event without one; it is the same on every run. Default: derived from the content, so that equal
   * events count as one. With `{ source: "logins-2026-11.ndjson" }`, it is derived from that name, the line (or
   * position) and the content: each line is an event of its own, and lines of two sources never share an id.
   */
  readonly idFrom?: ((event: Event, index: number) => string) | { readonly source: string } | undefined;
  /** How many events the source has, if it is not an array; for the time left in `onProgress`. */
  readonly total?: number | undefined;
  /**
   * Events older than this are not sent but passed to `onRejected`; in milliseconds. After 72 h, the service's own limit, an
   * event starts nothing. Default: all are sent.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * What to do when a daily limit is used up, here or according to the service's `Retry-After`. `"error"` (default):
   * the run rejects with a RateLimitError, and continues from its checkpoint when it is started again. `"wait"`: the
   * run waits for up to 24 hours and then continues; `signal`, `totalTimeoutMs` and `close()` end the wait.
   */
  readonly onDailyLimit?: "error" | "wait" | undefined;
  /** Called and awaited once for each event that was not recorded. */
  readonly onRejected?: ((rejected: RejectedEvent<Event>) => void | Promise<void>) | undefined;
  /**
   * Called and awaited once for each event that is recorded, also for one that was recorded before: `NO_CONTACT` and
   * `TOO_OLD` are outcomes, not refusals.
   */
  readonly onOutcome?: ((recorded: EventWithOutcome<Event>) => void | Promise<void>) | undefined;
}

/** The result of an ingestion: `read` = `skipped` + `accepted` + `duplicates` + `rejected` + `unknown`. */
export interface IngestReport {
  /** Events read from the source. */
  readonly read: number;
  /** Events settled by an earlier run, according to the checkpoint. */
  readonly skipped: number;
  /** Recorded by this run. */
  readonly accepted: number;
  /** Recorded before, by an earlier run or an identical line. */
  readonly duplicates: number;
  /** Events that were not recorded; each was passed to `onRejected`. */
  readonly rejected: number;
  /** Set if an earlier run refused events, according to the checkpoint. They count as skipped. */
  readonly rejectedBefore?: true | undefined;
  /** Of the recorded events: too old to start anything. */
  readonly tooOld: number;
  /** Of the recorded events: no contact matched, and creation was off. */
  readonly noContact: number;
  /** Automation runs that the accepted events started. */
  readonly runsStarted: number;
  /** Events read with an unknown result; the next run sends them again, under the same ids. */
  readonly unknown: number;
  /** How long this run took, in milliseconds. */
  readonly elapsedMs: number;
}
