import { Refusal } from "./answer.ts";
import {
  createMeter,
  day,
  documentedLimits,
  type LimitKind,
  type LimitName,
  type LimitWindow,
  type Meter,
} from "./window.ts";

/**
 * The limits that apply. A missing limit is as documented; a number keeps the documented window; `false` turns the limit
 * off. `mailAccountPerDay`, the daily limit for all emails of a mail account, has no documented number. It is off
 * unless set, here or on the account.
 */
export type SandboxLimits = {
  readonly [Name in LimitName]?: LimitWindow | number | false;
} & {
  /** `sliding` (default): every window of that length; `fixed`: aligned windows; `bucket`: refills steadily. */
  readonly kind?: LimitKind;
};

/** Makes the counters of one key, workspace or mail account. */
export type MetersFor = (...names: readonly LimitName[]) => Map<LimitName, Meter>;

const windowOf = (limits: SandboxLimits, name: LimitName): LimitWindow | undefined => {
  const documented = name === "mailAccountPerDay" ? undefined : documentedLimits[name];
  const given = limits[name];
  if (given === false) return undefined;
  if (given === undefined) return documented;
  const window = typeof given === "number" ? { max: given, windowMs: documented?.windowMs ?? day } : given;
  return Number.isFinite(window.max) ? window : undefined;
};

/** Reads the option; `false` turns all limits off. */
export const createMetersFor = (limits: SandboxLimits | false): MetersFor => {
  const read = (name: LimitName) => (limits === false ? undefined : windowOf(limits, name));
  const kind = (limits !== false && limits.kind) || "sliding";
  return (...names) => {
    const meters = new Map<LimitName, Meter>();
    for (const name of names) {
      const window = read(name);
      if (window !== undefined) meters.set(name, createMeter(kind, window));
    }
    return meters;
  };
};

/** A limit that a request spends, and how much of it. */
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

/** The charges on the named limits; limits that are off have none. */
export const chargesOn = (
  meters: ReadonlyMap<LimitName, Meter>,
  names: readonly LimitName[],
  weight = 1,
): Charge[] =>
  names.flatMap((name) => {
    const meter = meters.get(name);
    return meter === undefined ? [] : [{ name, meter, weight }];
  });

/** The charge with the longest wait, if any has to wait. */
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
 * Spends every limit, or none: a refused request costs nothing.
 *
 * @param alsoNeeded - must have room too, but are spent later, if at all.
 * @throws Refusal 429 with the wait.
 */
export const spend = (charges: readonly Charge[], now: number, alsoNeeded: readonly Charge[] = []): void => {
  const obstacle = firstObstacle([...charges, ...alsoNeeded], now);
  if (obstacle !== undefined) {
    const { name } = obstacle.charge;
    throw new Refusal(429, `${sentences[name]}; retry later.`, obstacle.waitMs, name);
  }
  for (const { meter, weight } of charges) meter.take(weight, now);
};
