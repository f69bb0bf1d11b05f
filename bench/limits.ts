/**
 * What pacing makes of a limit: 429s (0 wanted) and the share of what the limit allows, for every way a service may
 * count and several latencies. Run with `npx tsx bench/limits.ts`, or, as all of it takes long, with the names of the
 * parts that are wanted: `npx tsx bench/limits.ts simulated recorder price`.
 */
import { fleetCells } from "./limits/fleet.ts";
import { memoryOfWaiting } from "./limits/memory-process.ts";
import { mixedCells } from "./limits/mixed.ts";
import { priceOfPacing } from "./limits/price.ts";
import { recorderAgainstSingles } from "./limits/recorder.ts";
import { simulatedCells } from "./limits/simulated.ts";
import { simulatedFleetCells } from "./limits/simulated-fleet.ts";
import { socketCells } from "./limits/sockets.ts";

const parts: Readonly<Record<string, () => Promise<void>>> = {
  simulated: simulatedCells,
  mixed: mixedCells,
  fleet: simulatedFleetCells,
  sockets: socketCells,
  "fleet-sockets": fleetCells,
  recorder: recorderAgainstSingles,
  price: priceOfPacing,
  memory: memoryOfWaiting,
};

const main = async (): Promise<void> => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in parts));
  if (unknown.length > 0)
    throw new Error(`no such part: ${unknown.join()}; there are ${Object.keys(parts).join()}`);
  for (const [name, run] of Object.entries(parts))
    if (wanted.length === 0 || wanted.includes(name)) await run();
};

void main().then(() => process.exit(0));
