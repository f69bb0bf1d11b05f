// Sends the emails of queued jobs. Start any number of these, and kill any of them.
// Needs bullmq and ioredis, TOUCHPOINT_BASE_URL, TOUCHPOINT_API_KEY, and REDIS_URL of a Redis that evicts no keys.
import { DelayedError, type Job, UnrecoverableError, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Client, isTouchpointError } from "touchpoint-sdk";
import { redisLedger, redisLimits } from "touchpoint-sdk/redis";

export const queue = "welcome-emails";

const redis = new Redis(process.env.REDIS_URL ?? "redis://localhost:6379", { maxRetriesPerRequest: null });
const client = new Client({
  ledger: redisLedger(redis),
  limits: redisLimits(redis, { id: "crm" }),
  timeoutMs: Number(process.env.TIMEOUT_MS ?? 30_000),
});

const send = async (job: Job<{ user: string; to: string }>, token?: string): Promise<void> => {
  const { user, to } = job.data;
  try {
    const email = { to, subject: `Welcome, ${user}`, text: "Good to have you." };
    await client.emails.send(email, { once: `welcome:${user}` });
  } catch (error) {
    if (!isTouchpointError(error)) throw error;
    if (error.code === "once_pending" || error.code === "rate_limited") {
      const waitMs = error.code === "rate_limited" ? (error.retryAfterMs ?? 1_000) : 1_000;
      await job.moveToDelayed(Date.now() + waitMs, token);
      throw new DelayedError();
    }
    // The email may have been sent: a person has to look in the mail account and settle the key.
    if (error.outcome === "unknown") throw new UnrecoverableError(error.message);
    throw error;
  }
};

const lockDuration = Number(process.env.LOCK_MS ?? 30_000);
const worker = new Worker(queue, send, {
  connection: redis,
  lockDuration,
  stalledInterval: lockDuration,
  maxStalledCount: 1_000,
});

process.once("SIGTERM", async () => {
  await worker.close();
  await client.close();
  await redis.quit();
});
