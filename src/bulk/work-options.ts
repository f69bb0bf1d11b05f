import type { CallOptions } from "../options/options.ts";
import { callRules, sharedRules } from "../options/validation.ts";
import type { CheckpointStore } from "../runtime/checkpoint.ts";
import {
  can,
  isCallback,
  isWhole,
  must,
  type Rules,
  readOptions,
  refuseFaults,
  ruleFaults,
} from "../runtime/rules.ts";
import { isIterable } from "../runtime/values.ts";
import type { Progress } from "./progress.ts";
import type { Entry } from "./source-run.ts";

/** Options of work that can be resumed. */
export interface WorkOptions extends CallOptions {
  /**
   * The limit for the whole run, in milliseconds. After it, the run rejects with a TimeoutError. The checkpoint is
   * kept, and starting the run again continues from there. By default a run may last as long as its source, and the
   * client's own `totalTimeoutMs` limits each request of an ingestion, and each row of an import.
   */
  readonly totalTimeoutMs?: number | undefined;
  /** A path or your own store for the progress of the run, so that it can be killed and started again. */
  readonly checkpoint?: string | CheckpointStore | undefined;
  /** Called at most ten times per second, and at the end. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Where an item of a source stands. */
export interface SourcePlace {
  /** The position in the source, counted from 0. */
  readonly index: number;
  /** The line in the file that it was read from; undefined if there is none. */
  readonly line?: number | undefined;
  /** Its email address, if it has one. */
  readonly email?: string | undefined;
}

/** @param holder - what has the email address. */
export const originOf = ({ index, line }: Entry<unknown>, holder: unknown): SourcePlace => {
  const { email }: { email?: unknown } = Object(holder);
  return { index, ...(line !== undefined && { line }), ...(typeof email === "string" && { email }) };
};

/** The options of each request of a run; the call of the run has its signal. */
export const requestOptions = (options: CallOptions): CallOptions =>
  Object.fromEntries(Object.keys(sharedRules).map((name) => [name, Reflect.get(options, name)]));

const shared: Rules = {
  checkpoint: must("a path, or a store with load and save", (value) =>
    typeof value === "string" ? value !== "" : can(value, "load", "save"),
  ),
  concurrency: isWhole(1),
  onProgress: isCallback,
  onRejected: isCallback,
};

/**
 * Reads the options of long work. A misspelled option must not be ignored for an hour.
 *
 * @throws ValidationError naming every fault of the source and the options.
 */
export const readWorkOptions = <Options extends object>(
  operation: string,
  { source, options: input }: { readonly source: unknown; readonly options: Options },
  own: Rules,
): Options => {
  const rules = { ...callRules, ...shared, ...own };
  const options = readOptions(input, rules);
  const faults = ruleFaults(options, rules);
  const hint =
    typeof source === "string" ? " (readNdjson and readCsv of touchpoint-sdk/files read a file)" : "";
  if (!isIterable(source))
    faults.unshift(`the source must be an array, a generator or a stream of objects${hint}`);
  refuseFaults(operation, faults);
  return options;
};
