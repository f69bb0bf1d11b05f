import { createHash } from "node:crypto";

/**
 * The methods that the library needs of an ioredis client, version 5 or 6. `Cluster` has them too.
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
  /** Runs a script that the server knows, by its SHA-1: EVALSHA. */
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Tells whether it evicts keys, for a ledger: INFO. */
  info?(section: "memory"): Promise<string>;
  /** The nodes of a cluster that hold keys; a ledger on one is listed node by node. */
  nodes?(role: "master"): IoredisCommands[];
  /** Opens a second connection like this one; without it, news comes with the next heartbeat. */
  duplicate?(): IoredisSubscriber;
  /** Tells when the connection is ended. */
  once?(event: "end", listener: () => void): unknown;
  /** Takes a listener back. */
  off?(event: "end", listener: () => void): unknown;
}

/** The methods that the library needs to receive messages of other processes; a second connection of ioredis has them. */
export interface IoredisSubscriber {
  /** Calls back with each message of a channel it is subscribed to. */
  on(event: "message", listener: (channel: string, message: string) => void): unknown;
  /** Calls back when it is connected, again too. */
  on(event: "ready", listener: () => void): unknown;
  /** Calls back when it fails. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Begins to hear a channel. */
  subscribe(channel: string): Promise<unknown>;
  /** Ends the connection at once. */
  disconnect(): void;
}

/** The keys and arguments of a script, as node-redis takes them. */
interface ScriptInput {
  keys: string[];
  arguments: string[];
}

/**
 * The methods that the library needs of a node-redis client (`redis`), version 5 or 6. A client of `createCluster` has them
 * too.
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
  /** Runs a script that the server knows, by its SHA-1: EVALSHA. */
  evalSha(sha: string, input: ScriptInput): Promise<unknown>;
  /** Tells whether it evicts keys, for a ledger: INFO. */
  info?(section: "memory"): Promise<string>;
  /** The nodes of a cluster that hold keys. */
  readonly masters?: readonly unknown[];
  /** The client of one of them. */
  nodeClient?(node: unknown): Promise<NodeRedisCommands>;
  /** Opens a second connection like this one. */
  duplicate(): NodeRedisSubscriber;
  /** Tells when the connection is ended. */
  once(event: "end", listener: () => void): unknown;
  /** Takes a listener back. */
  off(event: "end", listener: () => void): unknown;
}

/** What is needed to hear what other processes publish; a second connection of node-redis has it. */
interface NodeRedisSubscriber {
  /** Calls back when it fails. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Connects. */
  connect(): Promise<unknown>;
  /** Begins to hear a channel, over every loss of the connection. */
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  /** Ends the connection at once. */
  destroy(): void;
}

/** A Redis client, told by its shape. */
export type RedisCommands = IoredisCommands | NodeRedisCommands;

export const isNodeRedis = (redis: RedisCommands): redis is NodeRedisCommands => "evalSha" in redis;

/** What is wrong with what should be a client. */
export const clientFaults = (redis: unknown): string[] => {
  const {
    eval: run,
    evalsha,
    evalSha,
  }: { eval?: unknown; evalsha?: unknown; evalSha?: unknown } = Object(redis);
  const isClient = typeof run === "function" && typeof (evalsha ?? evalSha) === "function";
  return isClient ? [] : ["redis must be a client of ioredis or node-redis"];
};

/** The nodes that hold keys: of a cluster all primaries. */
export const nodesOf = async (redis: RedisCommands): Promise<readonly RedisCommands[]> => {
  if (!isNodeRedis(redis)) return redis.nodes?.("master") ?? [redis];
  const nodes = redis.masters?.map((node) => redis.nodeClient?.(node) ?? redis);
  return nodes === undefined ? [redis] : Promise.all(nodes);
};

/** A script that runs as one step, by its hash where Redis knows it already. */
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
