import type { Call } from "../call/call.ts";
import { ConfigurationError, ConnectionError, ValidationError } from "../errors.ts";
import { callSafely } from "../options/logger.ts";
import { bindMethods } from "../runtime/bound-methods.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import type { Cancel } from "../runtime/clock.ts";
import { describeIssues } from "../service/check.ts";
import { readEvent } from "../service/events.ts";
import { operations } from "../service/operations.ts";
import type { EventName, EventOf, GivenEvent, OpenEvents } from "../workspace/event-types.ts";
import type { BatchItemResult } from "./batch-answer.ts";
import type { RecorderSettings } from "./recorder-options.ts";
import { sendBatch } from "./send-batch.ts";

/** The parts of the client that a recorder uses. */
export interface RecorderContext {
  readonly call: Call;
  /** Called when the recorder has closed. */
  readonly onClose: () => void;
}

interface QueuedEvent {
  readonly index: number;
  readonly event: GivenEvent;
  readonly resolve: (result: BatchItemResult) => void;
  readonly reject: (reason: unknown) => void;
}

// While these batches wait for a limit, the next batch fills up. More batches in flight would only be smaller.
const batchesAtOnce = 4;

/**
 * Collects single events into batches. Each caller gets the result of its own event. `events.recorder` creates a
 * recorder.
 *
 * A batch is sent when it is full, or when its first event has waited `maxDelayMs`. No event is lost silently: the
 * promise of an event that cannot be recorded rejects.
 */
export class Recorder<Types extends object = OpenEvents> {
  readonly #settings: RecorderSettings;
  readonly #context: RecorderContext;
  /** Every event that is not sent yet. */
  readonly #queue: QueuedEvent[] = [];
  /** Promises of `record` calls that are not settled yet, and of callbacks that are still running. */
  readonly #unsettled = new Set<Promise<unknown>>();
  /** The number of events that this recorder got. */
  #count = 0;
  /** The number of events in flight. */
  #eventsInFlight = 0;
  #sent = 0;
  #dropped = 0;
  #batchesInFlight = 0;
  #runningFlushes = 0;
  /** Whether the oldest event in the queue has waited `maxDelayMs`. */
  #isDue = false;
  #cancelTimer: Cancel | undefined;
  #closing: Promise<void> | undefined;
  readonly #abandoned = new AbortController();

  /** @internal */
  constructor(settings: RecorderSettings, context: RecorderContext) {
    this.#settings = settings;
    this.#context = context;
    bindMethods(this);
  }

  /** The number of accepted events that are not settled yet. */
  get pending(): number {
    return this.#eventsInFlight + this.#queue.length;
  }

  /**
   * `sent` is the number of events that got a result so far. `dropped` is the number of events that failed without one.
   *
   * @internal
   */
  get tally(): { readonly sent: number; readonly dropped: number } {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  /**
   * Records one event with the next batch.
   *
   * @returns the result of this event: `status` 202 if it was recorded, otherwise `status` and `error`.
   * @throws ValidationError when this event is invalid. It is not sent; other events are not affected.
   * @throws ConfigurationError after `close`.
   * @throws TouchpointError when the request failed permanently.
   * @example
   * ```ts
   * const recorder = client.events.recorder();
   * const result = await recorder.record({ name: "page.viewed", contact: { email: "ada@example.com" } });
   * if (result.state !== "recorded") console.error(result.error);
   * ```
   */
  record<const Name extends EventName<Types>>(event: EventOf<Types, Name>): Promise<BatchItemResult> {
    // Every `EventOf` type describes an event of the service. `#record` checks the value.
    const recording = this.#record(event as unknown as GivenEvent);
    const ended = this.#hold(recording);
    this.#settings.waitUntil?.(ended);
    // `#hold` handles a failure of `recording`. Without onDrop, an ignored failure must stay an unhandled rejection, so
    // return a new promise, which nothing handles yet.
    return this.#settings.onDrop === undefined ? recording.then((result) => result) : recording;
  }

  /**
   * Sends all pending events at once. Resolves when every event recorded so far is settled.
   *
   * @example
   * ```ts
   * const recorder = client.events.recorder();
   * recorder.record({ name: "page.viewed", contact: { email: "ada@example.com" } }).catch(console.error);
   * await recorder.flush();
   * ```
   */
  async flush(): Promise<void> {
    this.#runningFlushes += 1;
    this.#pump();
    // Some events may wait for a batch in flight, or for their schema. Until this resolves, send events without waiting
    // for full batches.
    await Promise.all(this.#unsettled);
    this.#runningFlushes -= 1;
  }

  /**
   * Stops accepting events. Resolves when every event is settled. `client.close` also closes the recorder.
   *
   * @example
   * ```ts
   * const recorder = client.events.recorder();
   * process.once("SIGTERM", () => recorder.close());
   * ```
   */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  /**
   * Drops events that are not in flight: each rejects with the outcome `not-applied`, and `onDrop` gets it.
   *
   * @internal
   */
  abandon(): void {
    const { id: operation } = operations.events.record;
    const message = "events.recorder: the client was closed, so this event was not sent.";
    const error = new ConnectionError(message, { operation, outcome: "not-applied" });
    // This also ends events that still wait for an asynchronous schema, and so are not in the queue yet.
    this.#abandoned.abort(error);
    this.#closing ??= this.#drain();
    for (const entry of this.#queue.splice(0)) this.#drop(entry, error);
    this.#pump();
  }

  /** Does the same as `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #drain(): Promise<void> {
    while (this.#unsettled.size > 0) await this.flush();
    this.#context.onClose();
  }

  async #record(input: GivenEvent): Promise<BatchItemResult> {
    if (this.#closing !== undefined) throw new ConfigurationError("events.recorder: the recorder is closed");
    const operation = operations.events.record;
    const index = this.#count++;
    // Copy the event: a schema of the workspace may be asynchronous, and the caller may change the event meanwhile.
    const event = readEvent(input);
    const reading = this.#context.call.issues(operation, event);
    const { signal } = this.#abandoned;
    const reportIfDropped = (error: unknown): never => {
      if (error === signal.reason) this.#reportDropped(event, error);
      throw error;
    };
    const issues =
      reading instanceof Promise ? await untilAborted(reading, signal).catch(reportIfDropped) : reading;
    if (issues.length > 0) {
      const message = `events.recorder: ${describeIssues(issues)}`;
      throw new ValidationError(message, { operation: operation.id, issues });
    }
    return new Promise((resolve, reject) => {
      // Set the id here, outside of every retry, so that a retry sends the same id.
      const keyed = event.id === undefined ? { ...event, id: crypto.randomUUID() } : event;
      const entry = { index, event: keyed, resolve, reject };
      if (signal.aborted) return this.#drop(entry, signal.reason);
      this.#queue.push(entry);
      this.#pump();
    });
  }

  #pump(): void {
    const { maxBatch, maxDelayMs } = this.#settings;
    while (this.#batchesInFlight < batchesAtOnce && this.#queue.length > 0) {
      if (this.#queue.length < maxBatch && !this.#isDue && this.#runningFlushes === 0) break;
      void this.#send(this.#queue.splice(0, maxBatch));
    }
    if (this.#queue.length === 0) {
      this.#isDue = false;
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
    } else if (!this.#isDue) {
      this.#cancelTimer ??= this.#context.call.clock.after(maxDelayMs, () => {
        this.#isDue = true;
        this.#pump();
      });
    }
  }

  async #send(batch: readonly QueuedEvent[]): Promise<void> {
    this.#batchesInFlight += 1;
    this.#eventsInFlight += batch.length;
    const { call } = this.#context;
    try {
      const indexed = batch.map(({ event }, index) => ({ index, event }));
      const results = await call
        .long("events.recordBatch")
        .untilEnd((part) => sendBatch(indexed, { call: part, plan: { isDrained: true }, options: {} }));
      for (const [position, { event, index, resolve }] of batch.entries()) {
        const result = results[position];
        // Each caller passed one event, so the index in the caller's input is 0.
        if (result === undefined) continue;
        resolve({ ...result, index: 0 });
        if (result.state === "recorded")
          this.#follow(() => this.#settings.onOutcome?.({ event, index, outcome: result.outcome }));
      }
      this.#sent += batch.length;
    } catch (error) {
      for (const entry of batch) this.#drop(entry, error);
    } finally {
      this.#batchesInFlight -= 1;
      this.#eventsInFlight -= batch.length;
      this.#pump();
    }
  }

  #drop({ event, reject }: QueuedEvent, error: unknown): void {
    reject(error);
    this.#reportDropped(event, error);
  }

  #reportDropped(event: GivenEvent, error: unknown): void {
    this.#dropped += 1;
    this.#follow(() => this.#settings.onDrop?.({ event, error }));
  }

  /** Calls a callback. `flush` and `close` wait for its promise. A failing callback doesn't affect other events. */
  #follow(callback: () => unknown): void {
    callSafely(() => {
      const following = callback();
      if (following instanceof Promise) void this.#hold(following);
    });
  }

  /** Makes `flush` and `close` wait for a promise. The returned promise never rejects. */
  #hold(promise: Promise<unknown>): Promise<void> {
    const ended = promise.then(
      () => undefined,
      () => undefined,
    );
    this.#unsettled.add(ended);
    void ended.then(() => this.#unsettled.delete(ended));
    return ended;
  }
}
