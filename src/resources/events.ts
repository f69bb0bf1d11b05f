import { type BatchReport, recordBatch } from "../batch/record-batch.ts";
import { Recorder } from "../batch/recorder.ts";
import { type RecorderOptions, recorderSettings } from "../batch/recorder-options.ts";
import type { ForecastContext, ForecastOptions, IngestForecast } from "../bulk/forecast.ts";
import type { IngestOptions, IngestReport } from "../bulk/ingest-options.ts";
import type { InputSource } from "../bulk/source-run.ts";
import type { ApiPromise } from "../call/api-promise.ts";
import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import type { CallOptions } from "../options/options.ts";
import { bindMethods } from "../runtime/bound-methods.ts";
import type { EventInput, EventReceipt } from "../service/events.ts";
import { operations } from "../service/operations.ts";
import type { OpenFields } from "../workspace/contact-types.ts";
import type { EventName, EventOf, GivenEventOf, OpenEvents } from "../workspace/event-types.ts";

/** The context of the events, besides the call. */
export interface EventsContext extends Omit<ForecastContext, "call"> {
  /** Open recorders: closing the client drains them. */
  readonly recorders: Set<Pick<Recorder, "tally" | "close" | "abandon">>;
}

/**
 * Events. Use it as `client.events`. `Types` are the workspace's events, and `Fields` its custom fields, if schemas
 * type them.
 */
export class Events<Types extends object = OpenEvents, Fields extends object = OpenFields> {
  readonly #call: Call;
  readonly #context: EventsContext;

  /** @internal */
  constructor(call: Call, context: EventsContext) {
    this.#call = call;
    this.#context = context;
    bindMethods(this);
  }

  /**
   * Records one event. Automations that start with, wait for or end with this event react at once.
   *
   * An event without an `id` gets a random one before the first attempt, so a retry after a lost response is recorded once.
   * Two calls with equal events record two events.
   *
   * @throws NotFoundError when `contact.id` is not in the workspace.
   * @throws ConflictError when `email` and `externalId` belong to two contacts.
   * @throws BadRequestError when `occurredAt` is in the service's future, or `properties` are too big.
   * @example
   * ```ts
   * const receipt = await client.events.record({
   *   name: "order.placed",
   *   contact: { email: "ada@example.com" },
   *   properties: { total: 129.5 },
   * });
   * console.log(receipt.outcome, receipt.runsStarted);
   * ```
   * Scope: `events:write`. Source: service document, Events, record-an-event rules.
   */
  record<const Name extends EventName<Types>>(
    event: EventOf<Types, Name, Fields>,
    options?: CallOptions,
  ): ApiPromise<EventReceipt> {
    // The cast is safe: every typed event is an EventInput, which the call checks.
    return sendRequest(
      this.#call,
      operations.events.record,
      { payload: event as unknown as EventInput },
      options,
    );
  }

  /**
   * Records any number of events, up to 100 per request. Each event succeeds or fails on its own. Events that failed for a
   * temporary reason are retried under their ids. An invalid event is not sent: it is refused with status 400, and its field
   * is in `error`. An empty array sends nothing.
   *
   * @returns one result per event, in the order of the events. A failed event has `status` and `error`.
   * @throws ValidationError naming every fault as `events[3].name: …`, if no event is valid; nothing was sent.
   * @throws TouchpointError when an entire request failed. `partial.results` has the known results. `partial.left` has the
   * other events with their ids, which you can safely send again.
   * @throws TimeoutError, with the same `partial`, when all requests together take longer than `totalTimeoutMs`.
   * @example
   * ```ts
   * const contact = { email: "ada@example.com" };
   * const { results } = await client.events.recordBatch([
   *   { name: "page.viewed", contact },
   *   { name: "order.placed", contact },
   * ]);
   * for (const result of results) console.log(result.index, result.state);
   * ```
   * Scope: `events:write`. Source: service document, Events, batch rules.
   */
  recordBatch<const Name extends EventName<Types>>(
    events: readonly EventOf<Types, Name, Fields>[],
    options: CallOptions = {},
  ): ApiPromise<BatchReport> {
    // The cast is safe, as in `record`.
    const inputs = events as unknown as readonly EventInput[];
    const call = this.#call.open("events.recordBatch");
    return call.answer(recordBatch(inputs, { call, options: options ?? {} }));
  }

  /**
   * Creates a recorder, which collects single events into batches, for example in request handlers. Each caller gets its own
   * result or error. A recorder can send 50 events per second. The limit of requests allows `record` only 10 per second.
   *
   * @throws ConfigurationError naming every fault of the options at once.
   * @example
   * ```ts
   * const recorder = client.events.recorder({ maxDelayMs: 50, onDrop: ({ error }) => console.error(error) });
   * const { status } = await recorder.record({ name: "page.viewed", contact: { email: "ada@example.com" } });
   * ```
   * Scope: `events:write`. Source: service document, Events, batch rules and Limits.
   */
  recorder(options: RecorderOptions = {}): Recorder<Types> {
    const { recorders } = this.#context;
    const { limits } = this.#call.context.settings;
    const settings = recorderSettings(options, limits ? limits.events.max : undefined);
    const recorder: Recorder<Types> = new Recorder<Types>(settings, {
      call: this.#call,
      onClose: () => recorders.delete(recorder),
    });
    recorders.add(recorder);
    return recorder;
  }

  /**
   * Records every event of an array, a generator or a stream, with constant memory.
   *
   * With a `checkpoint` you can kill the run at any time and start it again with the same source: every event is recorded
   * once. An event without an `id` gets one derived from its content. Equal events without an `id` therefore count as one
   * event, reported in `duplicates`; `idFrom: { source }` records each line as its own event. Batches may overtake each
   * other, unless `concurrency` is 1.
   *
   * @throws ConfigurationError when the checkpoint is damaged, cannot be written, or belongs to another input.
   * @throws TouchpointError when the service stays unavailable; `partial.report` has the counts so far.
   * @throws TimeoutError, with the same `partial`, when the run takes longer than its own `totalTimeoutMs`.
   * @example
   * ```ts
   * import type { EventInput } from "touchpoint-sdk";
   * import { readNdjson } from "touchpoint-sdk/files";
   *
   * const report = await client.events.ingest(readNdjson<EventInput>("events.ndjson"), {
   *   checkpoint: "events.checkpoint.json",
   *   onRejected: ({ index, error }) => console.error(`record ${index + 1}: ${error}`),
   * });
   * console.log(report.accepted, report.duplicates, report.rejected);
   * ```
   * Scope: `events:write`. Source: service document, Events, batch rules and Limits.
   */
  ingest<const Name extends EventName<Types>>(
    source: InputSource<EventOf<Types, Name, Fields>>,
    options: IngestOptions<GivenEventOf<Types, Name>> = {},
  ): ApiPromise<IngestReport> {
    // The casts are safe, as in `record`. The callbacks get the source's own events.
    const input = source as InputSource<unknown> as InputSource<EventInput>;
    const how = options as unknown as IngestOptions<EventInput>;
    const call = this.#call.open("events.ingest");
    // Files and hashes load with the first ingestion, not with the package.
    const loaded = import("../bulk/ingest.ts");
    return call.answer(loaded.then(({ ingest }) => ingest(input, how ?? {}, { ...this.#context, call })));
  }

  /**
   * Estimates how long an ingestion takes at the client's limits, if nothing else uses them. The method reads the source,
   * and sends nothing. During `ingest`, `onProgress` reports the same estimate for the remaining events.
   *
   * @param source - the events, or their number. With a number, `tooOld` is undefined.
   * @throws ValidationError naming every fault of the arguments at once.
   * @example
   * ```ts
   * import type { EventInput } from "touchpoint-sdk";
   * import { readNdjson } from "touchpoint-sdk/files";
   *
   * const { events, durationMs, days, tooOld } = await client.events.forecast(readNdjson<EventInput>("events.ndjson"));
   * console.log(`${events} events: ${Math.ceil(durationMs / 60_000)} min over ${days} days, ${tooOld} too old by then`);
   * ```
   * Scope: none; nothing is sent. Source: service document, Limits, and Events, record-an-event rule 3.
   */
  async forecast(
    source: InputSource<EventOf<Types, EventName<Types>>> | number,
    options: ForecastOptions = {},
  ): Promise<IngestForecast> {
    const { forecast } = await import("../bulk/forecast.ts");
    // The cast is safe, as in `record`.
    const input = source as unknown as InputSource<EventInput> | number;
    return forecast(input, options ?? {}, { ...this.#context, call: this.#call });
  }
}

/** The events of any workspace, typed or not. Names and properties are checked at run time. */
export interface AnyEvents extends Pick<Events, "record" | "recordBatch" | "ingest" | "forecast"> {
  /**
   * Creates a recorder, which collects single events into batches.
   *
   * @example
   * ```ts
   * const recorder = client.events.recorder({ maxDelayMs: 50 });
   * ```
   */
  recorder(options?: RecorderOptions): Pick<Recorder, keyof Recorder>;
}
