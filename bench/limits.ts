/**
 * What pacing makes of a limit: 429s (0 wanted) and the share of what the limit allows, for every way a service may
 * count and several latencies. Run with `npx tsx bench/limits.ts`; `--quick` leaves out the cells over sockets.
 */
import { fleetCells } from "./limits/fleet.ts";
import { memoryOfWaiting } from "./limits/memory.ts";
import { priceOfPacing } from "./limits/price.ts";
import { recorderAgainstSingles } from "./limits/recorder.ts";
import { simulatedCells } from "./limits/simulated.ts";
import { simulatedFleetCells } from "./limits/simulated-fleet.ts";
import { socketCells } from "./limits/sockets.ts";

const isQuick = process.argv.includes("--quick");

const main = async (): Promise<void> => {
  await simulatedCells();
  await simulatedFleetCells();
  if (!isQuick) {
    await socketCells();
    await fleetCells();
  }
  await recorderAgainstSingles();
  await priceOfPacing();
  await memoryOfWaiting();
};

void main().then(() => process.exit(0));
