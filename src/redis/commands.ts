import { createHash } from "node:crypto";
import type { RedisPublisher } from "./news.ts";

/**
 * The methods that the library needs of a Redis client. ioredis 5 and 6 have them, `Cluster` too.
 *
 * @example
 * ```ts
 * import { Redis } from "ioredis";
 * import { Client } from "touchpoint-sdk";
 * import { redisLimits } from "touchpoint-sdk/redis";
 *
 * const connection = new Redis("redis://localhost:6379");
 * await using shared = new Client({ limits: redisLimits(connection, { id: "production" }) });
 * ```
 */
export interface RedisCommands extends RedisPublisher {
  /** Runs a script: EVAL. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script that the server knows, by its SHA-1: EVALSHA. */
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** The nodes of a cluster that hold keys; a ledger on one is listed node by node. */
  nodes?(role: "master"): RedisCommands[];
  /** How the client was set up; its own prefix is needed to list a ledger. */
  readonly options?: { readonly keyPrefix?: string | undefined };
}

/** A script that runs as one step, by its hash where Redis knows it already. */
export const script = (source: string) => {
  let sha: string | undefined;
  return async (
    redis: RedisCommands,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<unknown> => {
    sha ??= createHash("sha1").update(source).digest("hex");
    const rest = [...keys, ...values.map(String)];
    try {
      return await redis.evalsha(sha, keys.length, ...rest);
    } catch (error) {
      // A Redis that was started anew, or whose scripts were flushed, is told the script again.
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return redis.eval(source, keys.length, ...rest);
    }
  };
};
