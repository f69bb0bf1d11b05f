import { Redis } from "ioredis";
import { Client } from "../../src/index.ts";
import { redisLimits } from "../../src/redis/index.ts";

// What fleet.ts passes.
const settings = JSON.parse(process.argv[2] ?? "{}") as {
  readonly url: string;
  readonly port: number;
  readonly id: string;
  readonly batch: number;
  readonly seconds: number;
  readonly limit: { readonly max: number; readonly perMs: number };
};

const redis = new Redis(settings.port, "127.0.0.1");
const client = new Client({
  apiKey: "bench",
  baseUrl: settings.url,
  concurrency: 64,
  limits: redisLimits(redis, {
    id: settings.id,
    requests: { max: 100_000, perMs: 1_000 },
    events: settings.limit,
    requestsPerDay: 1e9,
    eventsPerDay: 1e9,
  }),
});

const event = { name: "x", contact: { id: "1" } };
let recorded = 0;

const main = async (): Promise<void> => {
  const until = performance.now() + settings.seconds * 1_000;
  const callers = Array.from({ length: 64 }, async () => {
    while (performance.now() < until) {
      if (settings.batch === 1) await client.events.record(event);
      else await client.events.recordBatch(Array.from({ length: settings.batch }, () => event));
      recorded += settings.batch;
    }
  });
  await Promise.all(callers);
  await client.close();
  redis.disconnect();
  process.send?.(recorded);
  process.disconnect();
};

process.once("message", () => void main());
process.send?.("ready");
