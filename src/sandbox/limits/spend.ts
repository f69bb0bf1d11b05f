import { Refusal } from "../answer.ts";
import type { LimitName } from "./limits.ts";
import type { Meter } from "./window.ts";

/** One limit that a request draws on, and how much it takes. */
export interface Charge {
  readonly name: LimitName;
  readonly meter: Meter;
  readonly weight: number;
}

const sentences: Record<LimitName, string> = {
  requests: "Too many requests",
  requestsPerDay: "The key has used up its requests for the day",
  emails: "Too many emails",
  emailsPerDay: "The emails for the day are used up",
  events: "Too many events",
  eventsPerDay: "The workspace has used up its events for the day",
  mailAccountPerDay: "The mail account reached its daily sending limit",
};

/** Lists what is drawn from these counters. */
export const chargesOn = (
  meters: ReadonlyMap<LimitName, Meter>,
  names: readonly LimitName[],
  weight = 1,
): Charge[] =>
  names.flatMap((name) => {
    const meter = meters.get(name);
    return meter === undefined ? [] : [{ name, meter, weight }];
  });

/** The charge that has to wait longest, if any has to. */
export const firstObstacle = (
  charges: readonly Charge[],
  now: number,
): { readonly charge: Charge; readonly waitMs: number } | undefined => {
  let worst: { charge: Charge; waitMs: number } | undefined;
  for (const charge of charges) {
    const waitMs = charge.meter.waitMs(charge.weight, now);
    if (waitMs > (worst?.waitMs ?? 0)) worst = { charge, waitMs };
  }
  return worst;
};

/**
 * Draws on every limit, or on none: a refused request costs nothing.
 *
 * @param alsoNeeded - must have room too, and are drawn on later, if at all.
 * @throws Refusal 429 with the wait.
 */
export const spend = (charges: readonly Charge[], now: number, alsoNeeded: readonly Charge[] = []): void => {
  const obstacle = firstObstacle([...charges, ...alsoNeeded], now);
  if (obstacle !== undefined) {
    throw new Refusal(429, `${sentences[obstacle.charge.name]}; retry later.`, obstacle.waitMs);
  }
  for (const { meter, weight } of charges) meter.take(weight, now);
};
