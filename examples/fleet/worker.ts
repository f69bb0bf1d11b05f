// Records the lines of queued jobs. Start any number of these, on any machine that has the files, and kill any of them.
import { createReadStream } from "node:fs";
import { DelayedError, type Job, Worker } from "bullmq";
import { Client, type EventInput, type Limits, RateLimitError } from "touchpoint-sdk";
import { readNdjson } from "touchpoint-sdk/files";
import { redisCheckpoint, redisLimits } from "touchpoint-sdk/redis";
import { connect, type LineRange, queueName } from "./queue.ts";

const redis = connect();
/** The API key of each workspace, as JSON. */
const keys: Record<string, string> = JSON.parse(process.env.WORKSPACE_KEYS ?? "{}");
/** Set only if they differ from the documented limits. */
const limits: Partial<Limits> = JSON.parse(process.env.LIMITS ?? "{}");
/** After how many milliseconds the job of a killed worker returns to the queue. */
const lockDuration = Number(process.env.LOCK_MS ?? 30_000);
const stop = new AbortController();
const clients = new Map<string, Client>();

const clientOf = (workspace: string): Client => {
  const apiKey = keys[workspace];
  if (apiKey === undefined) throw new Error(`WORKSPACE_KEYS has no key for ${workspace}`);
  const client =
    clients.get(workspace) ??
    new Client({ apiKey, limits: redisLimits(redis, { id: workspace, ...limits }) });
  clients.set(workspace, client);
  return client;
};

const record = async (job: Job<LineRange>, token?: string) => {
  const { workspace, file, firstLine, start, end } = job.data;
  const source = String(job.id);
  const refuse = async ({ line = 1, error }: { line?: number | undefined; error: unknown }) =>
    void (await job.log(`line ${firstLine + line - 1}: ${String(error)}`));
  const lines = createReadStream(file, { start, end });
  const events = readNdjson<EventInput>(lines, { name: source, onInvalid: refuse });
  try {
    return await clientOf(workspace).events.ingest(events, {
      batchSize: 25,
      checkpoint: redisCheckpoint(redis, { id: source }),
      idFrom: { source },
      signal: stop.signal,
      onRejected: refuse,
    });
  } catch (error) {
    // The daily limit is used up, or this worker stops: the job returns to the queue for any worker.
    const backInMs = stop.signal.aborted ? 0 : error instanceof RateLimitError && error.retryAfterMs;
    if (backInMs === false || backInMs === undefined) throw error;
    await job.moveToDelayed(Date.now() + backInMs, token);
    throw new DelayedError();
  }
};

const worker = new Worker<LineRange>(queueName, record, {
  connection: redis,
  concurrency: Object.keys(keys).length,
  lockDuration,
  stalledInterval: lockDuration,
  maxStalledCount: 1_000,
});

process.once("SIGTERM", async () => {
  stop.abort(new Error("the worker ends"));
  await worker.close();
  await Promise.all([...clients.values()].map((client) => client.close({ graceMs: 25_000 })));
  await redis.quit();
});
