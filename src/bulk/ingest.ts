import { isCallback, isOneOf, isWhole, must, type Rules, refuseFaults } from "../runtime/rules.ts";
import { type EventInput, maxEventsPerRequest } from "../service/events.ts";
import { batchSizeRule, forecastOfRun } from "./forecast.ts";
import type { IngestContext, IngestOptions } from "./ingest-options.ts";
import { Ingestion, idScheme } from "./ingestion.ts";
import { ProgressReporter } from "./progress.ts";
import { type InputSource, type Reading, runResumable } from "./resumable.ts";
import { workFaults } from "./work-options.ts";

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

const operation = "events.ingest";
const defaultConcurrency = 4;

const hasSourceName = (value: unknown): boolean => {
  const { source }: { source?: unknown } = Object(value);
  return typeof source === "string" && source !== "";
};

const rules: Rules = {
  onOutcome: isCallback,
  batchSize: batchSizeRule,
  idFrom: must(
    "a function, or { source } with the source's name",
    (value) => typeof value === "function" || hasSourceName(value),
  ),
  total: isWhole(0),
  onDailyLimit: isOneOf("error", "wait"),
  maxAgeMs: must("above 0", (value) => Number(value) > 0),
};

/** Records every event of a source, in batches, with constant memory; a second run with the same source is harmless. */
export const ingest = async (
  source: InputSource<EventInput>,
  options: IngestOptions<EventInput>,
  context: IngestContext,
): Promise<IngestReport> => {
  refuseFaults(operation, workFaults(source, options, rules));
  const { clock, apiKey, largestBatch } = context;
  const startedAt = clock.now();
  const total = options.total ?? (Array.isArray(source) ? source.length : undefined);
  const forecast = options.onProgress && forecastOfRun(source, { ...options, total }, context);
  const progress = new ProgressReporter(options.onProgress, total, clock, forecast);
  const call = context.call.long(operation, { ...options, waits: progress });
  const ingestion = new Ingestion(options, context, call);
  const report = (reading: Reading): IngestReport => {
    const { counts } = ingestion;
    const settled = reading.skipped + counts.accepted + counts.duplicates + counts.rejected;
    const elapsedMs = Math.round(clock.now() - startedAt);
    return { ...reading, ...counts, unknown: reading.read - settled, elapsedMs };
  };
  return runResumable<EventInput, IngestReport>({
    ...{ call, source, apiKey, progress, report, checkpoint: options.checkpoint },
    // A batch larger than the limit allows at once would have to wait for an empty window.
    batchSize: () => Math.min(options.batchSize ?? maxEventsPerRequest, largestBatch()),
    concurrency: options.concurrency ?? defaultConcurrency,
    ids: idScheme(options.idFrom),
    work: (entries) => ingestion.work(entries),
  });
};
