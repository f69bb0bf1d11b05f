import { Redis } from "ioredis";
import { type Clock, systemClock } from "../../src/clock.ts";
import { pacing } from "../../src/http/pacing.ts";
import { Slots } from "../../src/http/slots.ts";
import { Traffic } from "../../src/http/traffic.ts";
import type { Send } from "../../src/http/types.ts";
import { type RedisLimitsOptions, redisLimits } from "../../src/redis/index.ts";

/** What one process of a fleet has: its own connection, its own budgets on the shared store. */
export const member = (
  port: number,
  next: Send,
  options: RedisLimitsOptions & { readonly clock?: Clock },
) => {
  const { clock = systemClock, ...rest } = options;
  const redis = new Redis(port, "127.0.0.1", { retryStrategy: () => 20, maxRetriesPerRequest: 1 });
  // A lost connection is told to the limits by the command that fails.
  redis.on("error", () => undefined);
  const limits = redisLimits(redis, rest);
  const traffic = new Traffic(limits.numbers, clock, limits);
  const send = pacing({ traffic, slots: new Slots(10_000), maxRetryAfterMs: 60_000, clock })(next);
  const close = async (): Promise<void> => {
    await traffic.close();
    redis.disconnect();
  };
  return { redis, traffic, send, close };
};
