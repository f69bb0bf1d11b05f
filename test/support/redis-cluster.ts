import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { RedisServer } from "./redis-server.ts";

/** Two redis-servers that form a cluster, each with half of the keys. */
export class RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly #directories: readonly string[];

  private constructor(nodes: readonly RedisServer[], directories: readonly string[]) {
    this.nodes = nodes;
    this.#directories = directories;
  }

  static async start(): Promise<RedisCluster> {
    // Each node writes a file with its identity.
    const directories = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), "redis-cluster-"))));
    const nodes = await Promise.all(
      directories.map((dir) => RedisServer.start("--cluster-enabled", "yes", "--dir", dir)),
    );
    const clients = nodes.map(({ port }) => new Redis(port, "127.0.0.1"));
    const [one, other] = clients;
    await one?.cluster("ADDSLOTSRANGE", 0, 8_191);
    await other?.cluster("ADDSLOTSRANGE", 8_192, 16_383);
    await one?.cluster("MEET", "127.0.0.1", nodes[1]?.port ?? 0);
    for (const client of clients) {
      while (!(await client.cluster("INFO")).includes("cluster_state:ok"));
      client.disconnect();
    }
    return new RedisCluster(nodes, directories);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    await Promise.all(this.#directories.map((dir) => rm(dir, { recursive: true })));
  }
}
