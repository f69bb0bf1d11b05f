import {
  type BatchItemResult,
  type IndexedEvent,
  isMissing,
  type RecordedResult,
} from "../batch/batch-answer.ts";
import { hasFailedTemporarily, sendBatch } from "../batch/send-batch.ts";
import type { Call } from "../call/call.ts";
import { ApiError, RateLimitError, ValidationError } from "../errors.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import { contentHash } from "../runtime/content-hash.ts";
import { toHeaders } from "../runtime/headers.ts";
import { must, mustBeFunction, mustBeOneOf, mustBeWhole, type Rules } from "../runtime/rules.ts";
import { unreadableReason } from "../runtime/source-line.ts";
import { describeIssues } from "../service/check.ts";
import { type EventInput, maxEventsPerRequest, readEvent } from "../service/events.ts";
import { operations } from "../service/operations.ts";
import { momentMs } from "../service/timestamps.ts";
import { batchSizeRule, type ForecastContext, forecastOfRun } from "./forecast.ts";
import type { IngestOptions, IngestReport, RejectedEvent } from "./ingest-options.ts";
import { ProgressReporter } from "./progress.ts";
import { type Entry, type InputSource, type Reading, runSource } from "./source-run.ts";
import { originOf, readWorkOptions, requestOptions, type SourcePlace } from "./work-options.ts";

const operation = "events.ingest";

type NotRecorded = Exclude<BatchItemResult, { readonly state: "recorded" }>;

// A result that is unreadable after every retry will stay unreadable. If it ended the run, it would end all later runs.
const maySucceedLater = (result: BatchItemResult): result is NotRecorded =>
  result.status === 0 ? isMissing(result) : hasFailedTemporarily(result);

type IdFrom = IngestOptions<EventInput>["idFrom"];

const derivedId = ({ item, index, line }: Entry<EventInput>, idFrom: IdFrom): unknown =>
  typeof idFrom === "function"
    ? idFrom(item, index)
    : contentHash(idFrom === undefined ? item : [idFrom.source, line ?? index, item]);

/** How the run derives event ids. The checkpoint stores this, because other ids would record every event again. */
const idScheme = (idFrom: IdFrom) => ({
  from:
    typeof idFrom === "function" ? "function" : idFrom === undefined ? "content" : `source:${idFrom.source}`,
  of: (entry: Entry<EventInput>): string | null => {
    const { id: own }: { id?: unknown } = Object(entry.item);
    try {
      const id = own ?? derivedId(entry, idFrom);
      return typeof id === "string" ? id : null;
    } catch {
      // The caller's function may throw for an item that isn't an event. Such an item was rejected.
      return null;
    }
  },
});

/** Sends the batches of one run and counts the result of each event. */
export class Ingestion {
  readonly counts = { accepted: 0, duplicates: 0, rejected: 0, tooOld: 0, noContact: 0, runsStarted: 0 };
  readonly #options: IngestOptions<EventInput>;
  readonly #call: Call;

  constructor(options: IngestOptions<EventInput>, call: Call) {
    this.#options = options;
    this.#call = call;
  }

  async work(entries: readonly Entry<EventInput>[]): Promise<void> {
    const toSend: IndexedEvent[] = [];
    const faults = new Map<number, string>();
    // Keyed by position in the batch, because unreadable lines have no index of their own.
    for (const [position, entry] of entries.entries()) {
      const fault = await this.#faultOf(entry.item);
      if (fault === undefined) toSend.push({ index: position, event: this.#withId(entry) });
      else faults.set(position, fault);
    }
    const results = toSend.length === 0 ? [] : await this.#sendOverDays(toSend);
    // Don't skip an event because of a temporary failure. The run ends, and continues here when it is started again.
    const unsettled = results.filter(maySucceedLater);
    const [first] = unsettled;
    if (first !== undefined) {
      const { status, error } = first;
      const what = `${unsettled.length} events of a batch keep failing (status ${status}: ${error})`;
      const details = { status, headers: toHeaders({}), body: undefined };
      throw this.#call.error(ApiError, `${what}. Start the run again later`, details);
    }
    const byIndex = new Map(results.map((result) => [result.index, result]));
    // Report only now: if the entire batch fails, the next run processes it again, and would report its events twice.
    for (const [position, entry] of entries.entries()) {
      const result = byIndex.get(position);
      const reported =
        result?.state === "recorded"
          ? this.#record(entry, result)
          : this.#reject(entry, result ?? { status: undefined, error: faults.get(position) ?? "" });
      if (reported !== undefined) await untilAborted(Promise.resolve(reported), this.#call.signal);
    }
  }

  /** Sends events. If a daily limit is used up, waits until it allows more, and sends the events again. */
  async #sendOverDays(events: readonly IndexedEvent[]): Promise<readonly BatchItemResult[]> {
    const sending = { call: this.#call, options: requestOptions(this.#options) };
    for (;;) {
      try {
        return await sendBatch(events, sending);
      } catch (error) {
        if (this.#options.onDailyLimit !== "wait" || !(error instanceof RateLimitError)) throw error;
        const { limit = "retry-after", retryAfterMs } = error;
        if (retryAfterMs === undefined) throw error;
        // Some events of the batch may be recorded already. Their ids ensure that the service records them once.
        await this.#call.backOff(retryAfterMs, limit);
      }
    }
  }

  async #faultOf(event: EventInput): Promise<string | undefined> {
    const reason = unreadableReason(event);
    if (reason !== undefined) return reason;
    const issues = await this.#call.issues(operations.events.record, event);
    if (issues.length > 0) return describeIssues(issues);
    const ageMs = this.#call.clock.wallTime() - momentMs(event.occurredAt);
    const { maxAgeMs = Number.POSITIVE_INFINITY } = this.#options;
    return ageMs > maxAgeMs ? `occurredAt: the event is older than maxAgeMs (${maxAgeMs} ms)` : undefined;
  }

  #withId(entry: Entry<EventInput>): EventInput {
    if (entry.item.id !== undefined) return entry.item;
    const id = derivedId(entry, this.#options.idFrom);
    if (typeof id === "string" && id !== "") return { ...entry.item, id };
    throw new ValidationError(
      `${operation}: idFrom must return a non-empty string, but did not for event ${entry.index}`,
    );
  }

  #originOf(entry: Entry<EventInput>): SourcePlace {
    return originOf(entry, Object(entry.item).contact);
  }

  #record(entry: Entry<EventInput>, { duplicate, outcome, runsStarted }: RecordedResult): unknown {
    if (duplicate) this.counts.duplicates += 1;
    else {
      this.counts.accepted += 1;
      if (outcome === "TOO_OLD") this.counts.tooOld += 1;
      if (outcome === "NO_CONTACT") this.counts.noContact += 1;
      // In lenient mode, `runsStarted` may be missing.
      this.counts.runsStarted += Number.isFinite(runsStarted) ? runsStarted : 0;
    }
    return this.#options.onOutcome?.({ event: entry.item, ...this.#originOf(entry), outcome });
  }

  #reject(entry: Entry<EventInput>, { status, error }: Pick<RejectedEvent, "status" | "error">): unknown {
    this.counts.rejected += 1;
    return this.#options.onRejected?.({ event: entry.item, ...this.#originOf(entry), status, error });
  }
}

const defaultConcurrency = 4;

const hasSourceName = (value: unknown): boolean => {
  const { source }: { source?: unknown } = Object(value);
  return typeof source === "string" && source !== "";
};

const rules: Rules = {
  onOutcome: mustBeFunction,
  batchSize: batchSizeRule,
  idFrom: must(
    "a function, or { source } with the source's name",
    (value) => typeof value === "function" || hasSourceName(value),
  ),
  total: mustBeWhole(0),
  onDailyLimit: mustBeOneOf("error", "wait"),
  maxAgeMs: must("above 0", (value) => Number(value) > 0),
};

/**
 * Records every event of a source in batches, with constant memory. A second run with the same source records nothing
 * twice.
 */
export const ingest = async (
  source: InputSource<EventInput>,
  input: IngestOptions<EventInput>,
  context: ForecastContext,
): Promise<IngestReport> => {
  const options = readWorkOptions(operation, { source, options: input }, rules);
  const total = options.total ?? (Array.isArray(source) ? source.length : undefined);
  const forecast = options.onProgress && forecastOfRun(source, { ...options, total }, context);
  const progress = new ProgressReporter(options.onProgress, total, context.call.clock, forecast);
  const call = context.call.long(operation, { ...options, waits: progress });
  const ingestion = new Ingestion(options, call);
  const report = ({ elapsedMs, ...reading }: Reading): IngestReport => {
    const { counts } = ingestion;
    const settled = reading.skipped + counts.accepted + counts.duplicates + counts.rejected;
    return { ...reading, ...counts, unknown: reading.read - settled, elapsedMs };
  };
  return runSource<EventInput, IngestReport>({
    ...{ call, source, progress, report, checkpoint: options.checkpoint },
    // A batch that is larger than the limit allows at once would have to wait for an empty window.
    batchSize: () => Math.min(options.batchSize ?? maxEventsPerRequest, context.largestBatch()),
    concurrency: options.concurrency ?? defaultConcurrency,
    ids: idScheme(options.idFrom),
    readItem: readEvent,
    work: (entries) => ingestion.work(entries),
  });
};
