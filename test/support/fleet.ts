import { Redis } from "ioredis";
import type { Send } from "../../src/http/types.ts";
import type { SharedLimits } from "../../src/options/shared-limits.ts";
import { RateLimiter } from "../../src/rate-limit/limiter.ts";
import { ConcurrencyLimit } from "../../src/rate-limit/queue.ts";
import { rateLimit } from "../../src/rate-limit/stage.ts";
import { type RedisCommands, type RedisLimitsOptions, redisLimits } from "../../src/redis/index.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { type SendSpec, through } from "./sending.ts";

/** One process of a fleet, with its own budgets over shared limits. */
export const memberOver = (limits: SharedLimits, next: Send, clock: Clock) => {
  const limiter = new RateLimiter(limits.numbers, clock, limits);
  const slots = new ConcurrencyLimit(10_000);
  const stage = through(
    rateLimit({
      limiter,
      slots,
      maxRetryAfterMs: 60_000,
      interactiveReserve: 0.1,
      maxQueued: Number.POSITIVE_INFINITY,
      clock,
    }),
    next,
  );
  const send: SendSpec = (spec) => stage({ clock, ...spec });
  return { limiter, send };
};

export const memberOn = (redis: RedisCommands, next: Send, options: RedisLimitsOptions, clock: Clock) =>
  memberOver(redisLimits(redis, options), next, clock);

/** One process of a fleet, with its own connection and its own budgets on the shared store. */
export const member = (
  port: number,
  next: Send,
  { clock = systemClock, ...options }: RedisLimitsOptions & { readonly clock?: Clock },
  Client: typeof Redis = Redis,
) => {
  const redis = new Client(port, "127.0.0.1", { retryStrategy: () => 20, maxRetriesPerRequest: 1 });
  // The limits get the error from the command that fails.
  redis.on("error", () => undefined);
  const { limiter, send } = memberOn(redis, next, options, clock);
  const close = async (): Promise<void> => {
    await limiter.close();
    redis.disconnect();
  };
  return { redis, limiter, send, close };
};

/** The same time on a clock that is fast by `byMs`. */
export const clockAhead = (clock: Clock, byMs: number): Clock => ({
  now: () => clock.now() + byMs,
  wallTime: () => clock.wallTime() + byMs,
  after: (ms, callback, options) => clock.after(ms, callback, options),
  sleep: (ms, signal) => clock.sleep(ms, signal),
});
