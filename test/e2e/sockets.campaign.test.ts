import { expect, test } from "vitest";
import { runKills } from "./campaign-kills.ts";
import { campaignSeed as seed } from "./campaign-seed.ts";
import { runOverSockets } from "./campaign-sockets.ts";

const calls = Number(process.env.TOUCHPOINT_CAMPAIGN_CALLS ?? 2_000) / 5;

test(`over real sockets, among closes and hang-ups, no promise is broken (TOUCHPOINT_CAMPAIGN_SEED=${seed})`, async () => {
  const tally = await runOverSockets(calls, seed);
  console.log(`campaign over sockets, seed ${seed}:`, JSON.stringify(tally));
  expect(tally).toMatchObject({ calls, breaches: [] });
}, 3_600_000);

test(`killed in the middle and started again, nothing is lost or done twice (TOUCHPOINT_CAMPAIGN_SEED=${seed})`, async () => {
  const kills = Number(process.env.TOUCHPOINT_CAMPAIGN_KILLS ?? Math.ceil(calls / 200));
  const tally = await runKills(kills, 20 * (kills + 1), seed);
  console.log(`campaign of kills, seed ${seed}:`, JSON.stringify(tally));
  expect(tally).toMatchObject({ events: 20 * (kills + 1), breaches: [] });
}, 3_600_000);
