import { limitsOver, type SharedLimitsOptions } from "../fleet/limits-over.ts";
import type { SharedLimits } from "../options/shared-limits.ts";
import { clientFaults, type RedisCommands } from "./commands.ts";
import { redisPlace } from "./redis-place.ts";

/**
 * Limits that any number of processes share through one Redis: permits, pauses and daily counts.
 *
 * After a process has died, its requests still count for 3 s and a window after its last message. After a restart or a
 * flush of Redis, the processes that used it before wait for 3 s and a window. The clocks of the processes may differ.
 * A distant Redis makes calls slower.
 *
 * @param redis - an ioredis or node-redis client, version 5 or 6; cluster clients work too. Close it yourself, after
 * the Touchpoint client.
 * @throws ConfigurationError naming every fault of the options at once.
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { redisLimits } from "touchpoint-sdk/redis";
 *
 * await using shared = new Client({ limits: redisLimits(redis, { id: "production" }) });
 * ```
 */
export const redisLimits = (redis: RedisCommands, options: SharedLimitsOptions): SharedLimits =>
  limitsOver(() => redisPlace(redis), options, { name: "redisLimits", faults: clientFaults(redis) });
