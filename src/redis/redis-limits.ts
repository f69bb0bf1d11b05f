import { ConfigurationError } from "../errors.ts";
import { documentedLimits, type Limits, limitFaults } from "../options/limits.ts";
import type { SharedLimits } from "../options/shared-limits.ts";
import type { RedisCommands } from "./commands.ts";
import { News } from "./news.ts";
import { SharedDay } from "./shared-day.ts";
import { SharedLeases } from "./shared-leases.ts";

/** Who shares the limits, and what happens while Redis is out of reach. Any limit may be corrected beside it. */
export interface RedisLimitsOptions extends Partial<Limits> {
  /** The same in every process that shares the limits: one for each key of the service. */
  readonly id: string;
  /**
   * While Redis is out of reach: `closed` (default) sends nothing, and refuses calls with a `ConnectionError` once
   * that has lasted for `maxLostMs`; `open` uses `share` of each limit.
   */
  readonly onLost?: "open" | "closed";
  /** The part of each limit that is this process's alone with `onLost: "open"`, which needs it; above 0, 1 at most. */
  readonly share?: number;
  /** How long calls wait for a Redis that is out of reach, in milliseconds, with `closed`. Default 60,000. */
  readonly maxLostMs?: number;
}

/**
 * Limits that any number of processes share through one Redis: budgets, pauses and day counts.
 *
 * Permits are leased in blocks and given back when others wait. A second connection, made like the given one, hears
 * at once of pauses and of permits that came free; it goes with `client.close()` or with the given one. A process that
 * dies returns its permits a window, and a twentieth of one (100 ms at least, four round trips to a Redis that is far),
 * after its last heartbeat; a flushed, restarted or lost Redis is found again by itself. No process's clock is compared
 * with another's.
 *
 * @param redis - an ioredis client, version 5 or 6; it stays the caller's to close, after the client of the service.
 * @throws ConfigurationError naming every fault of the options at once.
 *
 * ```ts
 * const client = new Client({ limits: redisLimits(new Redis(), { id: "production" }) });
 * ```
 */
export const redisLimits = (redis: RedisCommands, options: RedisLimitsOptions): SharedLimits => {
  // A caller without types may give null, or nothing: told below as an id that is missing.
  const {
    id,
    onLost = "closed",
    share,
    maxLostMs = 60_000,
    ...given
  }: Partial<RedisLimitsOptions> = options ?? {};
  const faults = limitFaults(given);
  if (typeof redis?.evalsha !== "function" || typeof redis.eval !== "function")
    faults.push("redis must be an ioredis client");
  if (typeof id !== "string" || id === "") faults.push("id must be a string that is not empty");
  if (onLost !== "open" && onLost !== "closed") faults.push(`onLost must be "open" or "closed"`);
  if (onLost === "open" && !(share !== undefined && share > 0 && share <= 1))
    faults.push(`onLost: "open" needs a share above 0 and of 1 at most`);
  if (!(maxLostMs >= 0)) faults.push(`maxLostMs must be at least 0, got ${String(maxLostMs)}`);
  if (faults.length > 0) throw new ConfigurationError(`redisLimits: ${faults.join("; ")}`);
  const news = new News(redis);
  return {
    numbers: { ...documentedLimits, ...given },
    open: (name, { limit, maxPerDay }, clock) => {
      const day = new SharedDay(`${name}PerDay`, maxPerDay, clock);
      // The braces keep the keys of one id on one node of a cluster.
      const key = `touchpoint:{${id}}:${name}`;
      const whenLost = { share: onLost === "open" ? (share ?? 0) : 0, maxMs: maxLostMs };
      return { day, permits: new SharedLeases({ redis, news, clock, key, limit, day, whenLost }) };
    },
  };
};
