import { Redis } from "ioredis";
import type { Send } from "../../src/http/types.ts";
import { Slots } from "../../src/rate-limit/concurrency.ts";
import { Traffic } from "../../src/rate-limit/limiter.ts";
import { pacing } from "../../src/rate-limit/stage.ts";
import { type RedisCommands, type RedisLimitsOptions, redisLimits } from "../../src/redis/index.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";

/** The limits of one process on a shared store, and what it sends through them. */
export const memberOn = (redis: RedisCommands, next: Send, options: RedisLimitsOptions, clock: Clock) => {
  const limits = redisLimits(redis, options);
  const traffic = new Traffic(limits.numbers, clock, limits);
  const slots = new Slots(10_000);
  const send = pacing({ traffic, slots, maxRetryAfterMs: 60_000, clock })(next);
  return { traffic, send };
};

/** What one process of a fleet has: its own connection, its own budgets on the shared store. */
export const member = (
  port: number,
  next: Send,
  { clock = systemClock, ...options }: RedisLimitsOptions & { readonly clock?: Clock },
  Client: typeof Redis = Redis,
) => {
  const redis = new Client(port, "127.0.0.1", { retryStrategy: () => 20, maxRetriesPerRequest: 1 });
  // A lost connection is told to the limits by the command that fails.
  redis.on("error", () => undefined);
  const { traffic, send } = memberOn(redis, next, options, clock);
  const close = async (): Promise<void> => {
    await traffic.close();
    redis.disconnect();
  };
  return { redis, traffic, send, close };
};

/** The same time, as a process reads it whose clock is off. */
export const clockAhead = (clock: Clock, byMs: number): Clock => ({
  now: () => clock.now() + byMs,
  wallTime: () => clock.wallTime() + byMs,
  after: (ms, callback, options) => clock.after(ms, callback, options),
  sleep: (ms, signal) => clock.sleep(ms, signal),
});
