import { type BatchItemResult, isAccepted, sendBatch } from "../batch/send-batch.ts";
import type { Call } from "../call.ts";
import type { Clock } from "../clock.ts";
import { contentId } from "../content-id.ts";
import { TouchpointError, ValidationError } from "../errors.ts";
import type { CallOptions } from "../options.ts";
import { describeIssues, issuesOf } from "../schemas/check.ts";
import { EventInput, maxEventsPerRequest } from "../schemas/event.ts";
import type { CheckpointStore } from "./checkpoint.ts";
import { type Progress, ProgressReporter } from "./progress.ts";
import { type Entry, type Reading, runResumable, type Source } from "./resumable.ts";

/** An event that was not recorded. */
export interface RejectedEvent {
  readonly event: EventInput;
  /** Its place in the source, counted from 0. */
  readonly index: number;
  /** The service's status for it; undefined when it was never sent. */
  readonly status: number | undefined;
  readonly error: string;
}

export interface IngestOptions extends CallOptions {
  /** A path, or a store of one's own: how far the run has come, so that it can be killed and started again. */
  readonly checkpoint?: string | CheckpointStore | undefined;
  /** Events a request, 1–100. Default: what the events budget lets through at once, at most 100. */
  readonly batchSize?: number | undefined;
  /** Requests under way at once. Default 4. */
  readonly concurrency?: number | undefined;
  /** The id of an event that has none; the same on every run. Default: made of the content. */
  readonly idFrom?: ((event: EventInput, index: number) => string) | undefined;
  /** Called at most ten times a second, and at the end. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called, and awaited, once for each event that was not recorded. */
  readonly onRejected?: ((rejected: RejectedEvent) => void | Promise<void>) | undefined;
}

/** What became of an ingestion: `read` = `skipped` + `accepted` + `duplicates` + `rejected` + `unknown`. */
export interface IngestReport {
  /** Taken from the source. */
  readonly read: number;
  /** Settled by an earlier run, as the checkpoint says. */
  readonly skipped: number;
  /** Recorded by this run. */
  readonly accepted: number;
  /** Recorded before, by an earlier run or an identical line. */
  readonly duplicates: number;
  /** Not recorded, each told to `onRejected`. */
  readonly rejected: number;
  /** Of those recorded: too old to start anything. */
  readonly tooOld: number;
  /** Of those recorded: nobody matched, and creation was off. */
  readonly noContact: number;
  /** Sent, but nobody knows what became of them; they are sent again under the same ids by the next run. */
  readonly unknown: number;
  readonly elapsedMs: number;
}

type Counts = { -readonly [K in "accepted" | "duplicates" | "rejected" | "tooOld" | "noContact"]: number };

export interface IngestContext {
  readonly call: Call;
  readonly clock: Clock;
  /** Events that the budget lets through at once; undefined: no such limit. */
  readonly eventsAtOnce: number | undefined;
}

const operation = "events.ingest";
const defaultConcurrency = 4;

const checkOptions = ({ batchSize, concurrency, idFrom }: IngestOptions): void => {
  const faults: string[] = [];
  const isWhole = (value: number, most: number): boolean =>
    Number.isSafeInteger(value) && value >= 1 && value <= most;
  if (batchSize !== undefined && !isWhole(batchSize, maxEventsPerRequest))
    faults.push("batchSize must be from 1 to 100");
  if (concurrency !== undefined && !isWhole(concurrency, 1_000))
    faults.push("concurrency must be from 1 to 1000");
  if (idFrom !== undefined && typeof idFrom !== "function") faults.push("idFrom must be a function");
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

/** Sends batches of one run and counts what became of each event. */
class Ingestion {
  readonly counts: Counts = { accepted: 0, duplicates: 0, rejected: 0, tooOld: 0, noContact: 0 };
  readonly #options: IngestOptions;
  readonly #context: IngestContext;
  readonly #callOptions: CallOptions;

  constructor(options: IngestOptions, context: IngestContext) {
    this.#options = options;
    this.#context = context;
    const { signal, timeoutMs, totalTimeoutMs, maxRetries, headers } = options;
    this.#callOptions = { signal, timeoutMs, totalTimeoutMs, maxRetries, headers };
  }

  async work(entries: readonly Entry<EventInput>[]): Promise<void> {
    const toSend: { readonly index: number; readonly event: EventInput }[] = [];
    for (const { index, item } of entries) {
      const issues = issuesOf(EventInput, item);
      if (issues.length > 0)
        await this.#reject({ event: item, index, status: undefined, error: describeIssues(issues) });
      else toSend.push({ index, event: this.#withId(item, index) });
    }
    if (toSend.length === 0) return;
    const { call, clock } = this.#context;
    const results = await sendBatch(toSend, { call, clock, options: this.#callOptions });
    for (const [at, result] of results.entries()) {
      const event = toSend[at]?.event;
      if (event !== undefined) await this.#count(result, event);
    }
  }

  #withId(event: EventInput, index: number): EventInput {
    if (event.id !== undefined) return event;
    return { ...event, id: this.#options.idFrom?.(event, index) ?? contentId(event) };
  }

  async #count(result: BatchItemResult, event: EventInput): Promise<void> {
    const { index, status, error = `status ${result.status}` } = result;
    if (!isAccepted(result)) return this.#reject({ event, index, status, error });
    if (result.duplicate === true) {
      this.counts.duplicates += 1;
      return;
    }
    this.counts.accepted += 1;
    if (result.outcome === "TOO_OLD") this.counts.tooOld += 1;
    if (result.outcome === "NO_CONTACT") this.counts.noContact += 1;
  }

  async #reject(rejected: RejectedEvent): Promise<void> {
    this.counts.rejected += 1;
    await this.#options.onRejected?.(rejected);
  }
}

const lengthOf = (source: Source<unknown>): number | undefined =>
  Array.isArray(source) ? source.length : undefined;

/** Records every event of a source, in batches, in constant memory; a second run over the same source is harmless. */
export const ingest = async (
  source: Source<EventInput>,
  options: IngestOptions,
  context: IngestContext,
): Promise<IngestReport> => {
  checkOptions(options);
  const { clock, eventsAtOnce = maxEventsPerRequest } = context;
  const startedAt = clock.now();
  const ingestion = new Ingestion(options, context);
  const reading: Reading = { read: 0, skipped: 0 };
  const report = (): IngestReport => {
    const { counts } = ingestion;
    const settled = reading.skipped + counts.accepted + counts.duplicates + counts.rejected;
    return { ...reading, ...counts, unknown: reading.read - settled, elapsedMs: clock.now() - startedAt };
  };
  try {
    await runResumable<EventInput>(
      {
        source,
        // A batch larger than the budget's window would have to wait for an empty one.
        batchSize: options.batchSize ?? Math.min(maxEventsPerRequest, eventsAtOnce),
        concurrency: options.concurrency ?? defaultConcurrency,
        checkpoint: options.checkpoint,
        signal: options.signal,
        progress: new ProgressReporter(options.onProgress, lengthOf(source), clock),
        work: (entries) => ingestion.work(entries),
      },
      reading,
    );
  } catch (error) {
    if (error instanceof TouchpointError) error.partial = { report: report() };
    throw error;
  }
  return report();
};
