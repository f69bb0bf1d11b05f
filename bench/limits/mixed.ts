import { documentedLimits } from "../../src/options/limits.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { paced, requestOn } from "../../test/support/paced.ts";
import { simulatedService } from "../../test/support/simulation.ts";
import { latencies, loads, percent } from "./simulated.ts";

const names = ["events", "emails", "requests"] as const;
const minute = 60_000;

const cell = async (latency: keyof typeof latencies, callers: number): Promise<string> => {
  const clock = new FakeClock();
  const limits = { ...documentedLimits, requestsPerDay: 1e9, emailsPerDay: 1e9, eventsPerDay: 1e9 };
  const service = simulatedService(clock, { counting: "sliding", limits, latency: latencies[latency]() });
  const { send } = paced(service.send, { clock, limits });
  const untilMs = 15 * minute;
  for (const { budgets, weight } of loads.mixed ?? [])
    for (let caller = 0; caller < callers; caller += 1)
      void (async () => {
        while (clock.now() < untilMs) await send(requestOn(budgets, { weight }));
      })();
  const sharesUntil = async (ms: number): Promise<string> => {
    const since = clock.now();
    const before = names.map((name) => service.limiters[name].accepted);
    await clock.advance(ms - since);
    return names
      .map((name, at) => {
        const { max, windowMs } = limits[name];
        const possible = ((ms - since) / windowMs) * max;
        return percent(
          (service.limiters[name].accepted - (before[at] ?? 0)) / possible,
          latency,
          limits[name],
        );
      })
      .join(" + ");
  };
  const first = await sharesUntil(minute);
  const later = await sharesUntil(untilMs);
  const refused = names.reduce((sum, name) => sum + service.limiters[name].refused, 0);
  return `${refused} ${later}, in the first minute ${first}`;
};

/** Runs the mixed load with few and with many callers a lane. */
export const mixedCells = async (): Promise<void> => {
  console.log("one process, simulated clock, sliding, 15 minutes: 429s, share of events + emails + requests");
  for (const latency of Object.keys(latencies) as (keyof typeof latencies)[])
    for (const callers of [3, 5, 60, 120])
      console.log(
        `  ${latency.padEnd(26)}${String(callers).padStart(4)} callers a lane  ${await cell(latency, callers)}`,
      );
};
