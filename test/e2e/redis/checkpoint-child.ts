import { Redis } from "ioredis";
import { Client, type EventInput } from "../../../src/index.ts";
import { redisCheckpoint } from "../../../src/redis/index.ts";

/** An ingestion with its checkpoint in Redis; prints its report. */
const [, , baseUrl = "", port = "", count = "0"] = process.argv;
const redis = new Redis(Number(port), "127.0.0.1", { retryStrategy: () => 20 });
redis.on("error", () => undefined);
const client = new Client({ apiKey: "k", baseUrl, limits: false });
const events = Array.from({ length: Number(count) }, (_, at): EventInput => {
  return { name: "seen", contact: { email: "ada@example.com" }, properties: { at } };
});
const checkpoint = redisCheckpoint(redis, { id: "events" });
const report = await client.events.ingest(events, { checkpoint, batchSize: 10, concurrency: 2 });
console.log(JSON.stringify(report));
await client.close();
redis.disconnect();
