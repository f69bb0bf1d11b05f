import { seeded } from "../support/simulation.ts";

/** What the draws of a campaign follow from. It is in the name of each test, so that a run can be repeated. */
export const campaignSeed = Number(process.env.TOUCHPOINT_CAMPAIGN_SEED ?? Date.now() % 2 ** 31);

/** Draws numbers from the seed of the campaign. */
export const draws = (seed: number) => {
  const random = seeded(seed);
  return {
    /** A number from 0 to below `limit`. */
    below: (limit: number): number => random() * limit,
    /** One of the items; undefined where there is none. */
    oneOf: <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)],
  };
};
