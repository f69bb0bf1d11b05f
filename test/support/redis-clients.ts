import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { createClient, createCluster } from "redis";
import { createClient as createClient5, createCluster as createCluster5 } from "redis5";
import { onTestFinished } from "vitest";
import type { RedisCommands } from "../../src/redis/index.ts";

// For the types, version 5 is another class; it has all methods of version 6 that are used here.
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
  // As above.
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
