import { documentedLimits } from "../../src/options/limits.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { paced, requestOn } from "../../test/support/paced.ts";
import { constantLatency, simulatedService } from "../../test/support/simulation.ts";

const minutes = 10;
const exporters = 8;
// The export starts while interactive calls are already running, as in a server.
const exportFromMs = 30_000;
const { max, windowMs } = documentedLimits.requests;

/** Pseudorandom numbers, the same in every run. */
const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/** The gap before the next call, as a multiple of the mean gap: independent users, or a steady load with jitter. */
const arrivals: Readonly<Record<string, (random: number) => number>> = {
  random: (random) => -Math.log(1 - random),
  steady: (random) => 0.5 + random,
};

const p99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;

const run = async (gapOf: (random: number) => number, load: number, isExporting: boolean) => {
  const clock = new FakeClock();
  const limits = { ...documentedLimits, requestsPerDay: 1e9 };
  const service = simulatedService(clock, { counting: "sliding", limits, latency: constantLatency(25, 25) });
  const { send } = paced(service.send, { clock, limits });
  const until = minutes * 60_000;
  const random = seeded(7);
  const tookMs: number[] = [];
  let pages = 0;
  const interactive = async (): Promise<void> => {
    while (clock.now() < until) {
      await clock.sleep((gapOf(random()) * windowMs) / (max * load));
      const since = clock.now();
      const isCounted = since > exportFromMs;
      void send(requestOn(["requests"])).then(() => isCounted && tookMs.push(clock.now() - since));
    }
  };
  const exporting = async (): Promise<void> => {
    await clock.sleep(exportFromMs);
    while (clock.now() < until) {
      await send(requestOn(["requests"], { priority: "background" }));
      pages += 1;
    }
  };
  void interactive();
  if (isExporting) for (let exporter = 0; exporter < exporters; exporter += 1) void exporting();
  await clock.advance(until + 60_000);
  return { p99Ms: p99(tookMs), pages, refused: service.limiters.requests.refused };
};

/** Measures how much an export slows interactive calls, and which share of the limit the export gets. */
export const reserveCells = async (): Promise<void> => {
  console.log(
    `interactive calls beside an export, simulated clock, 50 ms, ${minutes} minutes, sliding windows`,
  );
  for (const [name, gapOf] of Object.entries(arrivals))
    for (const load of [0.2, 0.6, 0.85]) {
      const alone = await run(gapOf, load, false);
      const beside = await run(gapOf, load, true);
      const share = beside.pages / (((minutes * 60_000 - exportFromMs) * max) / windowMs);
      console.log(
        `  ${name.padEnd(8)}${(load * 100).toFixed(0)} %: p99 ${alone.p99Ms.toFixed(0)} ms alone, ` +
          `${beside.p99Ms.toFixed(0)} ms beside the export; it gets ${(share * 100).toFixed(1)} % ` +
          `of the limit; 429s ${alone.refused + beside.refused}`,
      );
    }
};
