import { documentedLimits } from "../../src/options/limits.ts";
import type { IoredisCommands } from "../../src/redis/index.ts";
import type { BudgetName } from "../../src/service/define.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { clockAhead, memberOn } from "../../test/support/fleet.ts";
import { requestOn } from "../../test/support/paced.ts";
import { RedisServer } from "../../test/support/redis-server.ts";
import { SimulatedRedis } from "../../test/support/simulated-redis.ts";
import { simulatedService } from "../../test/support/simulation.ts";
import { countings, latencies, loads, percent } from "./simulated.ts";

// Enough windows of the slowest budget for a steady state. A third of them is a whole number, so that no burst falls on the
// boundary. By the end of the first third, each process has its first twenty responses.
const windows = { requests: 30, events: 120, emails: 6 } as const;

// REDIS_MS in the environment sets the latency to Redis, in each direction.
const redisMs = Number(process.env.REDIS_MS ?? 0.5);
// PROCESSES sets the number of processes.
const processes = Number(process.env.PROCESSES ?? 4);

const cell = async (
  port: number,
  counting: (typeof countings)[number],
  latency: keyof typeof latencies,
  load: (typeof loads)[string],
): Promise<string> => {
  const clock = new FakeClock();
  const store = new SimulatedRedis(port, clock);
  await store.redis.flushall();
  const limits = { ...documentedLimits, requestsPerDay: 1e9, emailsPerDay: 1e9, eventsPerDay: 1e9 };
  const service = simulatedService(clock, { counting, limits, latency: latencies[latency]() });
  const names = [...new Set(load.map(({ budgets }): BudgetName => budgets.at(-1) ?? "requests"))];
  const slowest = names.reduce((a, b) => (limits[a].windowMs > limits[b].windowMs ? a : b));
  const until = limits[slowest].windowMs * windows[slowest];
  const sent = Array<number>(processes).fill(0);
  let messages = 0;
  for (let process = 0; process < processes; process += 1) {
    const commands = store.commands(redisMs);
    const counted: IoredisCommands = {
      ...commands,
      eval: (...values) => {
        messages += 1;
        return commands.eval(...values);
      },
    };
    const { send } = memberOn(
      counted,
      (sending, request) => {
        sent[process] = (sent[process] ?? 0) + sending.plan.weight;
        return service.send(sending, request);
      },
      { id: "bench", ...limits },
      clockAhead(clock, process * 60_000),
    );
    for (const { budgets, weight } of load)
      for (let caller = 0; caller < 60; caller += 1)
        void (async () => {
          while (clock.now() < until) await send(requestOn(budgets, { weight }));
        })();
  }
  // In the first third, the processes discover each other and measure the latency.
  await store.advance(until / 3);
  sent.fill(0);
  messages = 0;
  const requestsBefore = service.limiters.requests.accepted;
  const before = names.map((name) => service.limiters[name].accepted);
  await store.advance((until * 2) / 3);
  const shares = names.map((name, at) => {
    const possible = ((until * 2) / 3 / limits[name].windowMs) * limits[name].max;
    const share = (service.limiters[name].accepted - (before[at] ?? 0)) / possible;
    return percent(share, latency, limits[name]);
  });
  const refused = Object.values(service.limiters).reduce((sum, limiter) => sum + limiter.refused, 0);
  store.redis.disconnect();
  const least = Math.min(...sent) / sent.reduce((sum, one) => sum + one, 0);
  const trips = messages / (service.limiters.requests.accepted - requestsBefore);
  const more = `least of ${processes} ${(least * 100).toFixed(0)} % of the sum, ${trips.toFixed(2)} round trips a request`;
  return `${counting} ${refused} ${shares.join(" + ")}, ${more}`;
};

/** Runs processes, each with its own clock offset, on a real redis-server that uses the simulated clock. */
export const simulatedFleetCells = async (): Promise<void> => {
  console.log(
    `${processes} processes on one Redis, simulated clock, ${redisMs} ms to Redis, full-length limits: 429s, share (mixed: events + emails + requests)`,
  );
  const server = await RedisServer.start();
  // In the environment, LOAD=mixed selects one load, LATENCY='300 ms' another latency, and COUNTING=fixed another counting. The
  // default is a sliding window, because fixed windows and a bucket accept everything that a sliding window accepts.
  const wantedLatencies = process.env.LATENCY ? [process.env.LATENCY] : ["50 ms", "0-300 ms, counted last"];
  const wantedCounting = process.env.COUNTING ?? "sliding";
  const wanted = Object.entries(loads).filter(([name]) => name === (process.env.LOAD ?? name));
  for (const [loadName, load] of wanted) {
    for (const latency of Object.keys(latencies) as (keyof typeof latencies)[]) {
      if (!wantedLatencies.includes(latency)) continue;
      const cells: string[] = [];
      for (const counting of countings)
        if (counting === wantedCounting) cells.push(await cell(server.port, counting, latency, load));
      console.log(`  ${loadName.padEnd(20)}${latency.padEnd(26)}${cells.join("   ")}`);
    }
  }
  await server.stop();
};
