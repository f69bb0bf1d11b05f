import { ValidationError } from "../errors.ts";
import { type EventInput, maxEventsPerRequest } from "../service/events.ts";
import { forecastOfRun } from "./forecast.ts";
import type { IngestContext, IngestOptions } from "./ingest-options.ts";
import { Ingestion, idScheme } from "./ingestion.ts";
import { ProgressReporter } from "./progress.ts";
import { type InputSource, type Reading, runResumable } from "./resumable.ts";
import { WaitTracker } from "./waits.ts";
import { workFaults } from "./work-faults.ts";

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

const ownOptions = ["onOutcome", "batchSize", "idFrom", "maxAgeMs", "onDailyLimit", "total"];

const check = (source: unknown, options: IngestOptions<EventInput>): void => {
  const faults = workFaults(source, options, ownOptions);
  const { batchSize, idFrom, maxAgeMs, onDailyLimit, total } = options;
  const isWhole = (value: number, most: number): boolean =>
    Number.isSafeInteger(value) && value >= 1 && value <= most;
  if (batchSize !== undefined && !isWhole(batchSize, maxEventsPerRequest))
    faults.push("batchSize must be from 1 to 100");
  const { source: name }: { source?: unknown } = Object(idFrom);
  if (idFrom !== undefined && typeof idFrom !== "function" && !(typeof name === "string" && name !== ""))
    faults.push("idFrom must be a function, or { source } with the source's name");
  if (total !== undefined && !(Number.isSafeInteger(total) && total >= 0))
    faults.push("total must be a whole number of at least 0");
  if (onDailyLimit !== undefined && onDailyLimit !== "error" && onDailyLimit !== "wait")
    faults.push('onDailyLimit must be "error" or "wait"');
  if (maxAgeMs !== undefined && !(maxAgeMs > 0)) faults.push("maxAgeMs must be above 0");
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

const lengthOf = (source: InputSource<unknown>): number | undefined =>
  Array.isArray(source) ? source.length : undefined;

/** Records every event of a source, in batches, with constant memory; a second run with the same source is harmless. */
export const ingest = async (
  source: InputSource<EventInput>,
  options: IngestOptions<EventInput>,
  context: IngestContext,
): Promise<IngestReport> => {
  check(source, options);
  const { clock, largestBatch } = context;
  const startedAt = clock.now();
  const total = options.total ?? lengthOf(source);
  const forecast = options.onProgress && forecastOfRun(source, { ...options, total }, context);
  const waits = new WaitTracker();
  const call = context.call.long(operation, { ...options, waits });
  const ingestion = new Ingestion(options, context, { call, waits });
  const report = (reading: Reading): IngestReport => {
    const { counts } = ingestion;
    const settled = reading.skipped + counts.accepted + counts.duplicates + counts.rejected;
    return { ...reading, ...counts, unknown: reading.read - settled, elapsedMs: clock.now() - startedAt };
  };
  return runResumable<EventInput, IngestReport>({
    source,
    // A batch larger than the limit allows at once would have to wait for an empty window.
    batchSize: () => Math.min(options.batchSize ?? maxEventsPerRequest, largestBatch()),
    concurrency: options.concurrency ?? defaultConcurrency,
    checkpoint: options.checkpoint,
    apiKey: context.apiKey,
    operation,
    call,
    clock,
    waits,
    options,
    ids: idScheme(options.idFrom),
    progress: new ProgressReporter(options.onProgress, total, clock, forecast),
    work: (entries, signal) => ingestion.work(entries, signal),
    report,
  });
};
