import type { BudgetName } from "../service/define.ts";
import { Refusal } from "./answer.ts";
import {
  documentedLimits,
  type LimitKind,
  type LimitName,
  type LimitWindow,
  type SandboxLimits,
} from "./options.ts";

/** Counts one limit. Times are milliseconds of the sandbox clock. */
export interface Meter {
  readonly window: LimitWindow;
  /** Milliseconds until `weight` fits; 0 when it fits now. */
  waitMs(weight: number, now: number): number;
  /** Counts `weight`; ask `waitMs` first. */
  take(weight: number, now: number): void;
  /** How much is used now. */
  used(now: number): number;
}

/** What is taken counts for the length of a window, or until the aligned window ends. */
const createWindows = (window: LimitWindow, isAligned: boolean): Meter => {
  const { max, windowMs } = window;
  const most = Math.max(1, Math.floor(max));
  /** When each unit that was taken expires, in this order. */
  const expiries: number[] = [];
  const used = (now: number): number => {
    const first = expiries.findIndex((expiry) => expiry > now);
    expiries.splice(0, first === -1 ? expiries.length : first);
    return expiries.length;
  };
  return {
    window,
    waitMs(weight, now) {
      // A weight above the limit passes alone, when nothing else is in the window.
      const missing = used(now) + Math.min(weight, most) - most;
      return (expiries[missing - 1] ?? now) - now;
    },
    take(weight, now) {
      const end = isAligned ? (Math.floor(now / windowMs) + 1) * windowMs : now + windowMs;
      const expiry = weight > max ? now + (windowMs * weight) / max : end;
      for (let unit = 0; unit < Math.min(weight, most); unit += 1) expiries.push(expiry);
    },
    used,
  };
};

const createBucket = (window: LimitWindow): Meter => {
  const { max, windowMs } = window;
  const eachMs = windowMs / max;
  let fullAt = Number.NEGATIVE_INFINITY;
  return {
    window,
    waitMs(weight, now) {
      const waitMs = Math.max(fullAt, now) + Math.min(weight, max) * eachMs - windowMs - now;
      // Times round: a microsecond short counts as full.
      return waitMs > 1e-3 ? waitMs : 0;
    },
    // An oversized batch leaves a debt that the following windows pay off.
    take(weight, now) {
      fullAt = Math.max(fullAt, now) + weight * eachMs;
    },
    used: (now) => Math.min(max, Math.max(0, fullAt - now) / eachMs),
  };
};

/** Builds the counter of one limit. */
export const createMeter = (window: LimitWindow, kind: LimitKind = "sliding"): Meter =>
  kind === "bucket" ? createBucket(window) : createWindows(window, kind === "fixed");

/** Makes the counters of one key, workspace or mail account, by the name that the workbench shows. */
export type MetersFor = (owner: string, ...budgets: readonly BudgetName[]) => Map<LimitName, Meter>;

const namesOf = (budget: BudgetName) => [budget, `${budget}PerDay`] as const;

/** Whose limits there are. */
export type Owners = Map<string, ReadonlyMap<LimitName, Meter>>;

/** Reads the option; `false` turns all limits off. */
export const createMetersFor =
  (limits: SandboxLimits | false, owners: Owners): MetersFor =>
  (owner, ...budgets) => {
    const meters = new Map<LimitName, Meter>();
    owners.set(owner, meters);
    if (limits === false) return meters;
    for (const name of budgets.flatMap(namesOf)) {
      const given = limits[name] ?? documentedLimits[name];
      if (given === false) continue;
      const window = typeof given === "number" ? { ...documentedLimits[name], max: given } : given;
      if (Number.isFinite(window.max)) meters.set(name, createMeter(window, limits.kind));
    }
    return meters;
  };

const sentences: Record<LimitName, string> = {
  requests: "Too many requests",
  requestsPerDay: "The key has used up its requests for the day",
  emails: "Too many emails",
  emailsPerDay: "The emails for the day are used up",
  events: "Too many events",
  eventsPerDay: "The workspace has used up its events for the day",
  mailAccountPerDay: "The mail account reached its daily sending limit",
};

/** The charges on the limits of a budget, as far as there are any. */
export const chargesOn = (meters: ReadonlyMap<LimitName, Meter>, budget: BudgetName, weight = 1) => {
  const names: LimitName[] = [...namesOf(budget)];
  if (budget === "emails") names.push("mailAccountPerDay");
  return names.flatMap((name) => {
    const meter = meters.get(name);
    return meter === undefined || weight === 0 ? [] : [{ name, meter, weight }];
  });
};

/** A limit that a request spends, and how much of it. */
export type Charge = ReturnType<typeof chargesOn>[number];

/**
 * Spends every limit, or none: a refused request costs nothing. The daily limit of a mail account must have room, but only
 * an email that is sent counts against it.
 *
 * @throws Refusal 429 with the longest wait.
 */
export const spend = (charges: readonly Charge[], now: number): void => {
  const waits = charges.map(({ name, meter, weight }) => ({ name, ms: meter.waitMs(weight, now) }));
  const [longest] = waits.sort((a, b) => b.ms - a.ms);
  if (longest !== undefined && longest.ms > 0)
    throw new Refusal(429, `${sentences[longest.name]}; retry later.`, longest.ms, longest.name);
  for (const { name, meter, weight } of charges) if (name !== "mailAccountPerDay") meter.take(weight, now);
};
