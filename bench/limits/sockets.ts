import { Client } from "../../src/index.ts";
import { limitedServer } from "./over-sockets.ts";

const wide = { max: 100_000, perMs: 1_000 };
const seconds = 8;

/** The whole client over real sockets, real time: fewer cells, with all that a clock and a machine do to them. */
export const socketCells = async (): Promise<void> => {
  console.log(
    `one process, real sockets and time, 100 single events per second for ${seconds} s: 429s, share`,
  );
  const limit = { max: 100, perMs: 1_000 };
  const latencies: [string, () => number][] = [
    ["0", () => 0],
    ["50 ms", () => 50],
    ["0-300 ms", () => Math.random() * 300],
  ];
  for (const [name, latencyMs] of latencies) {
    const cells: string[] = [];
    for (const counting of ["sliding", "fixed", "bucket"] as const) {
      const { url, limiter, server } = await limitedServer(counting, limit, latencyMs);
      const limits = { requests: wide, events: limit, requestsPerDay: 1e9, eventsPerDay: 1e9 };
      const client = new Client({
        apiKey: `${counting}-${name.replace(" ", "")}`,
        baseUrl: url,
        limits,
        concurrency: 64,
      });
      const until = performance.now() + seconds * 1_000;
      const callers = Array.from({ length: 64 }, async () => {
        while (performance.now() < until) await client.events.record({ name: "x", contact: { id: "1" } });
      });
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      const share = limiter.accepted / (limit.max * seconds);
      cells.push(`${counting} ${limiter.refused} ${(share * 100).toFixed(1)} %`);
      await Promise.all(callers);
      await client.close();
      server.close();
    }
    console.log(`  ${name.padEnd(12)}${cells.join("   ")}`);
  }
};
