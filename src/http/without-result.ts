import type { TracingChannel } from "node:diagnostics_channel";

/** Traces work as `tracePromise` does, but keeps its result from the subscribers: it holds people's data. */
export const withoutResult = async <Trace extends object, Result>(
  channel: TracingChannel<string, Trace>,
  trace: Trace,
  work: () => Promise<Result>,
): Promise<Result> => {
  const results: Result[] = [];
  await channel.tracePromise(async () => {
    results.push(await work());
  }, trace);
  const [result] = results;
  // tracePromise rejects with the work's own error, so there is one here.
  return result as Result;
};

/** Whether anybody may listen: Bun's channels do not tell. */
export const isWatched = ({ hasSubscribers }: { readonly hasSubscribers: boolean | undefined }): boolean =>
  hasSubscribers !== false;
