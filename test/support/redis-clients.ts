import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { createClient, createCluster, RESP_TYPES } from "redis";
import { createClient as createClient5, createCluster as createCluster5 } from "redis5";
import { onTestFinished } from "vitest";
import type { IoredisCommands, RedisCommands } from "../../src/redis/index.ts";

// For TypeScript, version 5 is a different class. At run time, it has all methods of version 6 that the tests use.
const ioredis = [Redis, Redis5 as unknown as typeof Redis];

const ignore = (): void => undefined;

/** Connects each kind of client to a port of this machine until the test ends. */
export const clients: readonly (readonly [
  name: string,
  connect: (port: number, options?: { readonly keyPrefix?: string }) => Promise<RedisCommands>,
])[] = [
  ...ioredis.map(
    (Client, at) =>
      [
        `ioredis ${6 - at}`,
        async (port: number, options: object = {}) => {
          const redis = new Client(port, "127.0.0.1", { retryStrategy: () => 20, ...options });
          redis.on("error", ignore);
          onTestFinished(() => redis.disconnect());
          return redis;
        },
      ] as const,
  ),
  [
    "node-redis 6",
    async (port, options = {}) => {
      const redis = createClient({ url: `redis://127.0.0.1:${port}`, ...options });
      await redis.on("error", ignore).connect();
      onTestFinished(() => redis.destroy());
      return redis;
    },
  ],
  [
    "node-redis 5",
    async (port) => {
      const redis = createClient5({ url: `redis://127.0.0.1:${port}` });
      await redis.on("error", ignore).connect();
      onTestFinished(() => redis.destroy());
      return redis;
    },
  ],
];

/** Connects each kind of client to a cluster, through one of its nodes. */
export const clusters: readonly (readonly [
  name: string,
  connect: (port: number, options?: { readonly keyPrefix?: string }) => Promise<RedisCommands>,
])[] = [
  // The cast is needed for the same reason as in `ioredis`.
  ...[Cluster, Cluster5 as unknown as typeof Cluster].map(
    (Client, at) =>
      [
        `ioredis ${6 - at}`,
        async (port: number, options: object = {}) => {
          const redis = new Client([{ host: "127.0.0.1", port }], options);
          onTestFinished(() => redis.disconnect());
          return redis;
        },
      ] as const,
  ),
  [
    "node-redis 6",
    async (port, options = {}) => {
      const redis = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }], ...options });
      await redis.connect();
      onTestFinished(() => redis.destroy());
      return redis;
    },
  ],
  [
    "node-redis 5",
    async (port) => {
      const redis = createCluster5({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] });
      await redis.connect();
      onTestFinished(() => redis.destroy());
      return redis;
    },
  ],
];

/** Clients that return replies in other types, or use another version of the protocol. */
export const mappingClients: readonly (readonly [
  name: string,
  connect: (port: number) => Promise<RedisCommands>,
])[] = [
  [
    "node-redis 6 with texts as Buffers and numbers as texts",
    async (port) => {
      const redis = createClient({ url: `redis://127.0.0.1:${port}` });
      await redis.connect();
      onTestFinished(() => redis.destroy());
      return redis.withTypeMapping({
        [RESP_TYPES.BLOB_STRING]: Buffer,
        [RESP_TYPES.SIMPLE_STRING]: Buffer,
        [RESP_TYPES.NUMBER]: String,
      });
    },
  ],
  [
    "node-redis 5 with texts as Buffers and numbers as texts",
    async (port) => {
      const redis = createClient5({ url: `redis://127.0.0.1:${port}` });
      await redis.connect();
      onTestFinished(() => redis.destroy());
      return redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String });
    },
  ],
  [
    "node-redis 6 over RESP 2",
    async (port) => {
      const redis = createClient({ url: `redis://127.0.0.1:${port}`, RESP: 2 });
      await redis.connect();
      onTestFinished(() => redis.destroy());
      return redis;
    },
  ],
  [
    "node-redis 5 over RESP 3",
    async (port) => {
      const redis = createClient5({ url: `redis://127.0.0.1:${port}`, RESP: 3 });
      await redis.connect();
      onTestFinished(() => redis.destroy());
      return redis;
    },
  ],
  [
    "ioredis 6 with stringNumbers",
    async (port) => {
      const redis = new Redis(port, "127.0.0.1", { stringNumbers: true });
      onTestFinished(() => redis.disconnect());
      return redis;
    },
  ],
  [
    "ioredis 6 with false in place of null",
    async (port) => {
      const redis = new Redis(port, "127.0.0.1");
      onTestFinished(() => redis.disconnect());
      const replies: IoredisCommands = {
        eval: async (source, count, ...input) => withFalse(await redis.eval(source, count, ...input)),
        evalsha: async (sha, count, ...input) => withFalse(await redis.evalsha(sha, count, ...input)),
        info: (section) => redis.info(section),
      };
      return replies;
    },
  ],
];

/** Replaces null as ioredis-mock does, also inside a list. */
const withFalse = (reply: unknown): unknown => {
  if (Array.isArray(reply)) return reply.map(withFalse);
  return reply === null ? false : reply;
};

/** Objects that have the methods of a client, but do not return its replies. */
export const wrongClients: readonly (readonly [
  name: string,
  connect: (port: number) => Promise<RedisCommands>,
])[] = [
  [
    "a pipeline of ioredis",
    async (port) => {
      const redis = new Redis(port, "127.0.0.1");
      onTestFinished(() => redis.disconnect());
      // The cast is needed because the types refuse this object.
      return redis.pipeline() as unknown as RedisCommands;
    },
  ],
  [
    "a transaction of node-redis",
    async (port) => {
      const redis = createClient({ url: `redis://127.0.0.1:${port}` });
      await redis.connect();
      onTestFinished(() => redis.destroy());
      // The types refuse this object too.
      return redis.multi() as unknown as RedisCommands;
    },
  ],
];
