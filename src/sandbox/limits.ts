import type { BudgetName } from "../service/define.ts";
import { Refusal } from "./answer.ts";
import { documentedLimits, type LimitName, type LimitWindow, type SandboxLimits } from "./options.ts";

/** Counts one limit. Times are milliseconds of the sandbox clock. */
export interface Meter {
  readonly window: LimitWindow;
  /** Milliseconds until `weight` fits; 0 when it fits now. */
  waitMs(weight: number, now: number): number;
  /** Counts `weight`. Call `waitMs` first. */
  take(weight: number, now: number): void;
  used(now: number): number;
}

/** Creates a counter for a sliding window: each unit counts for `windowMs` after it was taken. */
export const createMeter = (window: LimitWindow): Meter => {
  const { max, windowMs } = window;
  const most = Math.max(1, Math.floor(max));
  /** The times at which taken units expire, in order. */
  const expiries: number[] = [];
  const used = (now: number): number => {
    const first = expiries.findIndex((expiry) => expiry > now);
    expiries.splice(0, first === -1 ? expiries.length : first);
    return expiries.length;
  };
  return {
    window,
    waitMs(weight, now) {
      // A weight above the limit passes only when the window is empty. It then counts for longer, see `take`.
      const missing = used(now) + Math.min(weight, most) - most;
      return (expiries[missing - 1] ?? now) - now;
    },
    take(weight, now) {
      const expiry = now + windowMs * Math.max(1, weight / max);
      for (let unit = 0; unit < Math.min(weight, most); unit += 1) expiries.push(expiry);
    },
    used,
  };
};

/** The counters of one budget of a key, a workspace or a mail account. */
export type Meters = Map<LimitName, Meter>;

/** Creates the counters of a budget. The workbench shows them under the name of their owner. */
export type MetersFor = (owner: string, budget: BudgetName) => Meters;

/** All counters, with the names of their owners. */
export type OwnedMeters = { readonly owner: string; readonly meters: Meters }[];

/** Creates the `MetersFor` of the option `limits`; `false` turns all limits off. */
export const createMetersFor =
  (limits: SandboxLimits | false, all: OwnedMeters): MetersFor =>
  (owner, budget) => {
    const meters: Meters = new Map();
    all.push({ owner, meters });
    if (limits === false) return meters;
    for (const name of [budget, `${budget}PerDay`] as const) {
      const limit = limits[name] ?? documentedLimits[name];
      if (limit === false) continue;
      const window = typeof limit === "number" ? { ...documentedLimits[name], max: limit } : limit;
      if (Number.isFinite(window.max)) meters.set(name, createMeter(window));
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

/** The charges on all limits of a budget; none if `weight` is 0. */
export const chargesOn = (meters: Meters, weight = 1) =>
  weight === 0 ? [] : [...meters].map(([name, meter]) => ({ name, meter, weight }));

/** A limit that a request spends, and how much of it. */
export type Charge = ReturnType<typeof chargesOn>[number];

/**
 * Spends either every limit or none: a refused request spends nothing. The daily limit of a mail account must have
 * room, but only an email that is sent counts against it.
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
