import type { CallOptions } from "../options/options.ts";
import { callRules, sharedRules } from "../options/validation.ts";
import type { CheckpointStore } from "../runtime/checkpoint.ts";
import {
  can,
  must,
  mustBeFunction,
  mustBeWhole,
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
   * The time limit for the complete run, in milliseconds. When it is over, the run rejects with a TimeoutError. The
   * checkpoint is kept: start the run again to continue from there. By default, a run has no time limit, and the
   * client's own `totalTimeoutMs` limits each request of an ingestion, and each row of an import.
   */
  readonly totalTimeoutMs?: number | undefined;
  /** A path, or a store of your own, for the progress of the run. The next run continues after that progress. */
  readonly checkpoint?: string | CheckpointStore | undefined;
  /** Called with the progress at most ten times per second, and at the end. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The origin of an item in its source. */
export interface SourcePlace {
  /** The position in the source, counted from 0. */
  readonly index: number;
  /** The line number in the file that the item was read from; undefined if the item is not from a file. */
  readonly line?: number | undefined;
  /** The email address of the item, if it has one. */
  readonly email?: string | undefined;
}

/** The origin of an entry. @param holder - the object that has the email address. */
export const originOf = ({ index, line }: Entry<unknown>, holder: unknown): SourcePlace => {
  const { email }: { email?: unknown } = Object(holder);
  return { index, ...(line !== undefined && { line }), ...(typeof email === "string" && { email }) };
};

/** The options of each request of a run. The signal is left out, because the call of the run already has it. */
export const requestOptions = (options: CallOptions): CallOptions =>
  Object.fromEntries(Object.keys(sharedRules).map((name) => [name, Reflect.get(options, name)]));

const shared: Rules = {
  checkpoint: must("a path, or a store with load and save", (value) =>
    typeof value === "string" ? value !== "" : can(value, "load", "save"),
  ),
  concurrency: mustBeWhole(1),
  onProgress: mustBeFunction,
  onRejected: mustBeFunction,
};

/**
 * Reads the options of long work. It refuses a misspelled option at once, instead of ignoring it for hours.
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
