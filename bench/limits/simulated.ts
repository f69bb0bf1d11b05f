import { documentedLimits, type Limit } from "../../src/options/limits.ts";
import type { BudgetName } from "../../src/service/define.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { paced, requestOn } from "../../test/support/paced.ts";
import { constantLatency, randomLatency, simulatedService } from "../../test/support/simulation.ts";

/** How the service may count. COUNTING=sliding in the environment selects one way. */
export const countings = (["sliding", "fixed", "bucket"] as const).filter(
  (counting) => counting === (process.env.COUNTING ?? counting),
);

export const latencies = {
  "0": () => constantLatency(0, 0),
  "50 ms": () => constantLatency(25, 25),
  "300 ms": () => constantLatency(150, 150),
  "0-300 ms, counted last": () => randomLatency(300, "before"),
  "0-300 ms, counted first": () => randomLatency(300, "after"),
};

/**
 * The mean round trip minus the shortest one, for each latency. It bounds the share of a limit that a client can use without
 * a 429: `docs/design-notes.md`, "Latency and the floor".
 */
const meanExcessMs: Readonly<Record<keyof typeof latencies, number>> = {
  "0": 0,
  "50 ms": 0,
  "300 ms": 0,
  "0-300 ms, counted last": 150,
  "0-300 ms, counted first": 150,
};

/** Formats a share of a limit. If the limit cannot be used fully, also shows the share of the possible maximum. */
export const percent = (share: number, latency: keyof typeof latencies, { windowMs }: Limit): string => {
  const possible = windowMs / (windowMs + meanExcessMs[latency]);
  const of = (part: number): string => `${(part * 100).toFixed(1)} %`;
  return possible === 1 ? of(share) : `${of(share)} (${of(share / possible)} of ${of(possible)})`;
};

interface Load {
  readonly budgets: readonly BudgetName[];
  readonly weight: number;
}

export const loads: Readonly<Record<string, readonly Load[]>> = {
  requests: [{ budgets: ["requests"], weight: 1 }],
  "events, 10 a batch": [{ budgets: ["requests", "events"], weight: 10 }],
  emails: [{ budgets: ["requests", "emails"], weight: 1 }],
  mixed: [
    { budgets: ["requests", "events"], weight: 25 },
    { budgets: ["requests", "emails"], weight: 1 },
    { budgets: ["requests"], weight: 1 },
  ],
};

const windows = 200;
// After so many windows, the client has measured the latency.
const learning = 20;

const cell = async (
  counting: (typeof countings)[number],
  latency: keyof typeof latencies,
  load: readonly Load[],
): Promise<{ readonly refused: number; readonly shares: readonly string[] }> => {
  const clock = new FakeClock();
  const limits = { ...documentedLimits, requestsPerDay: 1e9, emailsPerDay: 1e9, eventsPerDay: 1e9 };
  const service = simulatedService(clock, { counting, limits, latency: latencies[latency]() });
  const { send } = paced(service.send, { clock, limits });
  const slowest = Math.max(...load.map(({ budgets }) => limits[budgets.at(-1) ?? "requests"].windowMs));
  const until = slowest * windows;
  // Enough callers to use every budget fully. Each caller sends one request after another.
  const callers = load.flatMap((one) =>
    Array.from({ length: 120 }, async () => {
      while (clock.now() < until) await send(requestOn(one.budgets, { weight: one.weight }));
    }),
  );
  await clock.advance(slowest * learning);
  const before = Object.entries(service.limiters).map(([name, { accepted }]) => [name, accepted] as const);
  const countedBefore = new Map<string, number>(before);
  await clock.advance(until - slowest * learning);
  const shares = [...new Set(load.map(({ budgets }) => budgets.at(-1) ?? "requests"))].map((name) => {
    const { max, windowMs } = limits[name];
    const possible = ((until - slowest * learning) / windowMs) * max;
    const share = (service.limiters[name].accepted - (countedBefore.get(name) ?? 0)) / possible;
    return percent(share, latency, limits[name]);
  });
  const refused = Object.values(service.limiters).reduce((sum, limiter) => sum + limiter.refused, 0);
  void Promise.allSettled(callers);
  return { refused, shares };
};

/** Runs every cell on a simulated clock, with exact figures and the documented limits. */
export const simulatedCells = async (): Promise<void> => {
  console.log(
    `one process, simulated clock, ${windows} windows, full-length limits: 429s, share (mixed: events + emails + requests)`,
  );
  console.log("  (in brackets: the share of what random latency allows without a 429)");
  for (const [loadName, load] of Object.entries(loads)) {
    for (const latency of Object.keys(latencies) as (keyof typeof latencies)[]) {
      const cells: string[] = [];
      for (const counting of countings) {
        const { refused, shares } = await cell(counting, latency, load);
        cells.push(`${counting} ${refused} ${shares.join(" + ")}`);
      }
      console.log(`  ${loadName.padEnd(20)}${latency.padEnd(26)}${cells.join("   ")}`);
    }
  }
};
