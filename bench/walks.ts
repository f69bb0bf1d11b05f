// Iterates random lists that change during the iteration, and prints the missed and repeated records.
//
//   npx tsx bench/walks.ts [lists] [seed]     200,000 lists by default; the same seed gives the same lists
import fc from "fast-check";
import { type Scenario, scenario, walked } from "../test/support/moving-walk.ts";

const [runs = 200_000, firstSeed = 1] = process.argv.slice(2).map(Number);
const chunk = 1_000;
const sum = { walks: 0, missed: 0, repeated: 0, lostPosition: 0, failed: 0 };

const walk = async (input: Scenario): Promise<void> => {
  sum.walks += 1;
  try {
    const result = await walked(input);
    if (result === undefined) sum.lostPosition += 1;
    const { missed, repeated } = result ?? { missed: [], repeated: [] };
    sum.missed += missed.length;
    sum.repeated += repeated.length;
    if (missed.length + repeated.length > 0) console.log(JSON.stringify({ input, missed, repeated }));
  } catch (error) {
    sum.failed += 1;
    console.log(JSON.stringify({ input, error: String(error) }));
  }
};

for (let seed = firstSeed; sum.walks < runs; seed += 1) {
  if (sum.walks % (20 * chunk) === 0 && sum.walks > 0) console.log(JSON.stringify(sum));
  for (const input of fc.sample(scenario, { seed, numRuns: Math.min(chunk, runs - sum.walks) }))
    await walk(input);
}
console.log(JSON.stringify(sum));
process.exitCode = sum.missed + sum.repeated + sum.failed > 0 ? 1 : 0;
