import { createHash } from "node:crypto";
import { can } from "../runtime/rules.ts";

/**
 * The methods of an ioredis client, version 5 or 6, that the library uses. `Cluster` also has them.
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
export interface IoredisCommands {
  /** Runs a script: EVAL. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script that the server already has, by its SHA-1: EVALSHA. */
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Reads the memory section, in which a ledger checks whether Redis evicts keys: INFO. */
  info?(section: "memory"): Promise<unknown>;
  /** Returns the primary nodes of a cluster. A ledger lists the keys of each node. */
  nodes?(role: "master"): IoredisCommands[];
}

/** The keys and arguments of a script, as node-redis takes them. */
interface ScriptInput {
  keys: string[];
  arguments: string[];
}

/**
 * The methods of a node-redis client (`redis`), version 5 or 6, that the library uses. A client of `createCluster` also
 * has them.
 *
 * @example
 * ```ts
 * import { createClient } from "redis";
 * import { Client } from "touchpoint-sdk";
 * import { redisLimits } from "touchpoint-sdk/redis";
 *
 * const connection = await createClient({ url: "redis://localhost:6379" }).connect();
 * await using shared = new Client({ limits: redisLimits(connection, { id: "production" }) });
 * ```
 */
export interface NodeRedisCommands {
  /** Runs a script: EVAL. */
  eval(script: string, input: ScriptInput): Promise<unknown>;
  /** Runs a script that the server already has, by its SHA-1: EVALSHA. */
  evalSha(sha: string, input: ScriptInput): Promise<unknown>;
  /** Reads the memory section, in which a ledger checks whether Redis evicts keys: INFO. */
  info?(section: "memory"): Promise<unknown>;
  /** The primary nodes of a cluster. */
  readonly masters?: readonly unknown[];
  /** Returns the client of one node. */
  nodeClient?(node: unknown): Promise<NodeRedisCommands>;
}

/** A Redis client of either library, recognized by its methods. */
export type RedisCommands = IoredisCommands | NodeRedisCommands;

const isNodeRedis = (redis: RedisCommands): redis is NodeRedisCommands => "evalSha" in redis;

/** The faults of a value that should be a client. */
export const clientFaults = (redis: unknown): string[] => {
  // A client of @upstash/redis has the methods of ioredis, but with other arguments.
  if (can(redis, "evalsha", "createScript"))
    return [
      "redis must not be a client of @upstash/redis: pass an ioredis client with the rediss:// address of the database",
    ];
  // It returns no promises, and an error without a callback ends the process.
  if (can(redis, "evalsha", "internal_send_command"))
    return ["redis must not be a client of node-redis 2 or 3: pass one of version 5 or later, or of ioredis"];
  const isClient = can(redis, "eval", "evalsha") || can(redis, "eval", "evalSha");
  return isClient ? [] : ["redis must be a client of ioredis or node-redis"];
};

/** The nodes that have keys: all primaries of a cluster, or the only server. */
export const nodesOf = async (redis: RedisCommands): Promise<readonly RedisCommands[]> => {
  if (!isNodeRedis(redis)) return redis.nodes?.("master") ?? [redis];
  const nodes = redis.masters?.map((node) => redis.nodeClient?.(node) ?? redis);
  return nodes === undefined ? [redis] : Promise.all(nodes);
};

/** Creates a function that runs a script atomically, by its hash if Redis already has the script. */
export const script = (source: string) => {
  let sha: string | undefined;
  return async (
    redis: RedisCommands,
    keys: readonly string[],
    values: readonly string[],
  ): Promise<unknown> => {
    sha ??= createHash("sha1").update(source).digest("hex");
    const input = { keys: [...keys], arguments: [...values] };
    const flat = [...keys, ...values];
    try {
      if (isNodeRedis(redis)) return await redis.evalSha(sha, input);
      return await redis.evalsha(sha, keys.length, ...flat);
    } catch (error) {
      // After a restart or SCRIPT FLUSH, Redis needs the script again.
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return isNodeRedis(redis) ? redis.eval(source, input) : redis.eval(source, keys.length, ...flat);
    }
  };
};
