import { callFaults } from "../options/validation.ts";
import { isAbortSignal, unknownKeys } from "../runtime/values.ts";

const isIterable = (source: unknown): boolean =>
  typeof source === "object" &&
  source !== null &&
  (Symbol.asyncIterator in source || Symbol.iterator in source);

const isStore = (value: unknown): boolean => {
  const { load, save }: { load?: unknown; save?: unknown } = Object(value);
  return typeof load === "function" && typeof save === "function";
};

/** The options that all long work has. */
const shared = [
  "checkpoint",
  "concurrency",
  "onProgress",
  "onRejected",
  "signal",
  "timeoutMs",
  "totalTimeoutMs",
  "maxWaitMs",
  "maxRetries",
  "priority",
  "headers",
];

const callbacks = ["onProgress", "onRejected", "onImported", "onOutcome"];

/** The faults of the source and the options of long work. A misspelt option must not be ignored for an hour. */
export const workFaults = (source: unknown, options: object, own: readonly string[]): string[] => {
  const faults = [...unknownKeys(options, [...shared, ...own]), ...callFaults(options)];
  const { signal }: { signal?: unknown } = options;
  if (signal !== undefined && !isAbortSignal(signal)) faults.push("signal must be an AbortSignal");
  if (!isIterable(source)) {
    const hint =
      typeof source === "string" ? " (readNdjson and readCsv of touchpoint-sdk/files read a file)" : "";
    faults.push(`the source must be an array, a generator or a stream of objects${hint}`);
  }
  const { checkpoint, concurrency }: { checkpoint?: unknown; concurrency?: unknown } = options;
  if (
    checkpoint !== undefined &&
    !(typeof checkpoint === "string" && checkpoint !== "") &&
    !isStore(checkpoint)
  ) {
    faults.push("checkpoint must be a path, or a store with load and save");
  }
  if (concurrency !== undefined && !(Number.isSafeInteger(concurrency) && Number(concurrency) >= 1)) {
    faults.push("concurrency must be a whole number of at least 1");
  }
  for (const [name, value] of Object.entries(options)) {
    if (callbacks.includes(name) && value !== undefined && typeof value !== "function")
      faults.push(`${name} must be a function`);
  }
  return faults;
};
