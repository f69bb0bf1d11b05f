import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { RedisServer } from "../../test/support/redis-server.ts";
import { limitedServer } from "./over-sockets.ts";

const seconds = 9;

/** Four processes on one Redis, each a real one with its own client, against one service. */
export const fleetCells = async (): Promise<void> => {
  console.log(
    `four processes on one Redis, real sockets and time, ${seconds} s: 429s, share, events by process`,
  );
  const redis = await RedisServer.start();
  const worker = fileURLToPath(new URL("./fleet-worker.ts", import.meta.url));
  for (const batch of [1, 10]) {
    const limit = { max: 100, perMs: 1_000 };
    for (const counting of ["sliding", "fixed", "bucket"] as const) {
      const { url, limiter, server } = await limitedServer(counting, limit, () => 0);
      const settings = { url, port: redis.port, id: `${counting}-${batch}`, batch, seconds, limit };
      const workers = Array.from({ length: 4 }, () =>
        fork(worker, [JSON.stringify(settings)], { execArgv: ["--import", "tsx"] }),
      );
      await Promise.all(workers.map((one) => new Promise((resolve) => one.once("message", resolve))));
      for (const one of workers) one.send("go");
      // The first second belongs to finding each other.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const before = limiter.accepted;
      await new Promise((resolve) => setTimeout(resolve, (seconds - 1) * 1_000));
      const share = (limiter.accepted - before) / (limit.max * (seconds - 1));
      const counts = await Promise.all(
        workers.map((one) => new Promise((resolve) => one.once("message", resolve))),
      );
      console.log(
        `  events, ${batch} a request  ${counting.padEnd(8)} ${limiter.refused}  ${(share * 100).toFixed(1)} %  ${counts.join()}`,
      );
      server.close();
    }
  }
  await redis.stop();
};
