/**
 * What pacing makes of a limit: 429s (0 wanted) and the share of what the limit allows, for every way a service may
 * count and several latencies; how long calls wait; what pacing costs. All of it, in less than ten minutes, after a
 * build: `npx tsx bench/limits.ts`. Some parts: `npx tsx bench/limits.ts simulated recorder price`.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { burstCells } from "./limits/burst.ts";
import { faultCells } from "./limits/faults.ts";
import { memoryOfKeys } from "./limits/keys.ts";
import { liveCells } from "./limits/live.ts";
import { memoryOfWaiting } from "./limits/memory-process.ts";
import { mixedCells } from "./limits/mixed.ts";
import { outageCells } from "./limits/outage.ts";
import { priceOfPacing } from "./limits/price.ts";
import { priceOfQueueing } from "./limits/queue.ts";
import { recorderAgainstSingles } from "./limits/recorder.ts";
import { reserveCells } from "./limits/reserve.ts";
import { simulatedCells } from "./limits/simulated.ts";
import { simulatedFleetCells } from "./limits/simulated-fleet.ts";

/** On a clock of their own: whatever else the machine does changes no figure. */
const simulated: Readonly<Record<string, () => Promise<void>>> = {
  simulated: simulatedCells,
  mixed: mixedCells,
  recorder: recorderAgainstSingles,
  reserve: reserveCells,
  fleet: simulatedFleetCells,
};

const parts: Readonly<Record<string, () => Promise<void>>> = {
  ...simulated,
  live: liveCells,
  faults: faultCells,
  burst: burstCells,
  outage: outageCells,
  queue: priceOfQueueing,
  price: priceOfPacing,
  memory: memoryOfWaiting,
  keys: memoryOfKeys,
};

const main = async (): Promise<void> => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in parts));
  if (unknown.length > 0)
    throw new Error(`no such part: ${unknown.join()}; there are ${Object.keys(parts).join()}`);
  if (wanted.length > 0) {
    for (const name of wanted) await parts[name]?.();
    return;
  }
  // While the live part waits for windows, and only then: what delays its answers lowers its figures.
  const beside = fork(fileURLToPath(import.meta.url), Object.keys(simulated), {
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  if (beside.pid !== undefined) setPriority(beside.pid, 19);
  const [told] = await Promise.all([
    beside.stdout === null ? "" : text(beside.stdout),
    once(beside, "exit"),
    liveCells(),
  ]);
  console.log(`\n${told}`);
  for (const run of [faultCells, outageCells, priceOfQueueing, priceOfPacing, memoryOfWaiting, memoryOfKeys])
    await run();
};

void main().then(() => process.exit(0));
