import type { EventOutcome } from "../service/events.ts";
import type { GivenEvent } from "../workspace/event-types.ts";
import type { SourcePlace, WorkOptions } from "./work-options.ts";

/** An event of a source, and its position. */
export interface EventPlace<Event = GivenEvent> extends SourcePlace {
  /** The event as the source yielded it. */
  readonly event: Event;
}

/** An event that was not recorded. */
export interface RejectedEvent<Event = GivenEvent> extends EventPlace<Event> {
  /** The status of the service's response; undefined if the event was never sent. */
  readonly status: number | undefined;
  /** The error message of the service, or what is wrong with the event. */
  readonly error: string;
}

/** A recorded event, and its outcome. */
export interface EventWithOutcome<Event = GivenEvent> extends EventPlace<Event> {
  readonly outcome: EventOutcome;
}

/** Options of an ingestion. */
export interface IngestOptions<Event = GivenEvent> extends WorkOptions {
  /**
   * The maximum number of events per request, 1–100. Default 100. A request never has more events than the events
   * limit allows at once.
   */
  readonly batchSize?: number | undefined;
  /**
   * Requests in flight at once. With the default, 4, events keep the order of the source within a batch, but not
   * between batches. With 1, they also keep the order between batches. An event that failed for a temporary reason is
   * retried after its batch.
   */
  readonly concurrency?: number | undefined;
  /**
   * How to derive an id for an event that has none. A function must return the same id for the same event on every run.
   * Default: the id is derived from the content, so that equal events count as one. With a source name, such as
   * `{ source: "logins-2026-11.ndjson" }`, the id is derived from that name, the line (or position) and the content.
   * Each line is then a separate event, and lines of two sources never share an id.
   */
  readonly idFrom?: ((event: Event, index: number) => string) | { readonly source: string } | undefined;
  /** The number of events, for a source that is not an array. `onProgress` uses it to compute the remaining time. */
  readonly total?: number | undefined;
  /**
   * The maximum age of an event in milliseconds. Older events are not sent; `onRejected` gets them. Default: no
   * maximum. The service records an event that is older than 72 h, but that event starts no automation.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * What to do when a daily limit is used up, in this client or according to the service's `Retry-After`. `"error"`
   * (default): the run rejects with a RateLimitError. Start it again later to continue from its checkpoint. `"wait"`:
   * the run waits for up to 24 hours and then continues; `signal`, `totalTimeoutMs` and `close()` end the wait.
   */
  readonly onDailyLimit?: "error" | "wait" | undefined;
  /** Called and awaited once for each event that was not recorded. */
  readonly onRejected?: ((rejected: RejectedEvent<Event>) => void | Promise<void>) | undefined;
  /**
   * Called and awaited once for each recorded event, even if it was recorded before. `NO_CONTACT` and `TOO_OLD` are
   * outcomes of recorded events, not refusals.
   */
  readonly onOutcome?: ((recorded: EventWithOutcome<Event>) => void | Promise<void>) | undefined;
}

/** The result of an ingestion: `read` = `skipped` + `accepted` + `duplicates` + `rejected` + `unknown`. */
export interface IngestReport {
  /** Events read from the source. */
  readonly read: number;
  /** Events that an earlier run settled, according to the checkpoint. */
  readonly skipped: number;
  /** Events that this run recorded. */
  readonly accepted: number;
  /** Events that were already recorded, by an earlier run or for an identical line. */
  readonly duplicates: number;
  /** Events that were not recorded; each was passed to `onRejected`. */
  readonly rejected: number;
  /** Set if an earlier run refused events, according to the checkpoint. They count as skipped. */
  readonly rejectedBefore?: true | undefined;
  /** Accepted events that are too old to start an automation. */
  readonly tooOld: number;
  /** Accepted events that matched no contact and created none. */
  readonly noContact: number;
  /** Automation runs that the accepted events started. */
  readonly runsStarted: number;
  /** Events that were read and have no known result. The next run sends them under the same ids. */
  readonly unknown: number;
  /** How long this run took, in milliseconds. */
  readonly elapsedMs: number;
}
