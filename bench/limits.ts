/**
 * Measures pacing: 429s (0 wanted), and the used share of each limit, for every way in which a service may count and for
 * several latencies. It also measures how long calls wait and what pacing costs. Build first. `npx tsx bench/limits.ts` runs
 * all parts except `burst` in less than ten minutes, and `npx tsx bench/limits.ts simulated recorder price` runs the named parts.
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

/** These parts run on a simulated clock, so the load of the machine does not change their figures. */
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
    throw new Error(`unknown parts: ${unknown.join(", ")}. The parts are ${Object.keys(parts).join(", ")}.`);
  if (wanted.length > 0) {
    for (const name of wanted) await parts[name]?.();
    return;
  }
  // The simulated parts run while the live part waits, and at the lowest priority: delayed responses would lower its figures.
  const beside = fork(fileURLToPath(import.meta.url), Object.keys(simulated), {
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  if (beside.pid !== undefined) setPriority(beside.pid, 19);
  const [simulatedOutput] = await Promise.all([
    beside.stdout === null ? "" : text(beside.stdout),
    once(beside, "exit"),
    liveCells(),
  ]);
  console.log(`\n${simulatedOutput}`);
  for (const run of [faultCells, outageCells, priceOfQueueing, priceOfPacing, memoryOfWaiting, memoryOfKeys])
    await run();
};

void main().then(() => process.exit(0));
