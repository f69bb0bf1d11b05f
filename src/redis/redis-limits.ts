import { documentedLimits, type Limits, limitFaults } from "../options/limits.ts";
import type { SharedBudget, SharedLimits } from "../options/shared-limits.ts";
import { isAtLeast, isNumber, isOneOf, isText, refuseSetup } from "../runtime/rules.ts";
import { clientFaults, type RedisCommands } from "./commands.ts";
import { RedisGate } from "./redis-gate.ts";
import { RedisBudget, RedisStore } from "./redis-store.ts";

/** Who shares the limits, and what happens while Redis is unavailable. You can change any limit here too. */
export interface RedisLimitsOptions extends Partial<Limits> {
  /** The same in every process that shares the limits. Use one id per API key, and `limitScopes` for what several keys share. */
  readonly id: string;
  /**
   * While Redis is unavailable: `closed` (default) sends nothing, and after `maxLostMs` refuses calls with a
   * `ConnectionError`; `open` uses `share` of each limit.
   */
  readonly onLost?: "open" | "closed";
  /** With `onLost: "open"`, the part of each limit that this process may use alone: above 0, at most 1. Required there. */
  readonly share?: number;
  /** With `closed`, how long calls wait for an unavailable Redis, in milliseconds. Default 60,000. */
  readonly maxLostMs?: number;
}

/**
 * Limits that any number of processes share through one Redis: permits, pauses and daily counts.
 *
 * Each request takes about two round trips to Redis on average, one before it is sent and one after its response. The
 * requests of a process that died count for 3 s and a window after its last message. After a restart or a flush of Redis,
 * processes that used it before wait for 3 s and a window. Their clocks need not agree.
 *
 * @param redis - an ioredis or node-redis client, version 5 or 6; cluster clients work too. Close it yourself, after the
 * Touchpoint client.
 * @throws ConfigurationError naming every fault of the options at once.
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { redisLimits } from "touchpoint-sdk/redis";
 *
 * await using shared = new Client({ limits: redisLimits(redis, { id: "production" }) });
 * ```
 */
export const redisLimits = (redis: RedisCommands, options: RedisLimitsOptions): SharedLimits => {
  // An untyped caller may pass null or nothing; the rule of the id reports it.
  const {
    id,
    onLost = "closed",
    share,
    maxLostMs = 60_000,
    ...ownNumbers
  }: Partial<RedisLimitsOptions> = options ?? {};
  const faults = [...limitFaults(ownNumbers), ...clientFaults(redis), ...isText(id, "id")];
  faults.push(...isOneOf("open", "closed")(onLost, "onLost"), ...isAtLeast(0)(maxLostMs, "maxLostMs"));
  if (onLost === "open" && !(isNumber(share, 0, 1) && share !== 0))
    faults.push(`onLost: "open" needs a share above 0 and at most 1`);
  refuseSetup("redisLimits", faults);
  const whenLost = { share: onLost === "open" ? (share ?? 0) : 0, maxMs: maxLostMs };
  let opened: RedisStore | undefined;
  return {
    numbers: { ...documentedLimits, ...ownNumbers },
    open: (name, { limit, maxPerDay, scope }, clock) => {
      opened ??= new RedisStore(redis, whenLost, clock);
      const store = opened;
      // The braces keep all limits on one node of a cluster, because one script takes what a request spends.
      const key = `touchpoint:{limits}:${scope === undefined ? `id:${id}` : `scope:${scope}`}:${name}`;
      const gateOf: SharedBudget["gateOf"] = (kind) => new RedisGate(store, kind);
      const parts = { key, name: `${name}PerDay`, limit, max: maxPerDay, gateOf };
      const budget = store.budgets.get(key) ?? new RedisBudget(parts, store);
      store.budgets.set(key, budget);
      return budget;
    },
  };
};
