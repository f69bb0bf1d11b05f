import { isPlainObject } from "../runtime/values.ts";
import type { ByPriority } from "./priority.ts";

/** A window and how much may happen in it. */
export interface Limit {
  /** How much may happen in any window; a whole number of at least 1. */
  readonly max: number;
  /** The length of the window in milliseconds; above 0. */
  readonly perMs: number;
}

/** How a budget stands at this moment. */
export interface BudgetState {
  /** How many requests, emails or events count towards it now; of shared limits those of all processes. */
  readonly used: number;
  /**
   * How many more may go at once; some of them may be kept for calls that wait for another limit. `Infinity` with
   * `limits: false`.
   */
  readonly left: number;
  /** In how many milliseconds at least the next use becomes possible; 0 when there is some left. */
  readonly freesInMs: number;
  /** Until when a 429 or 503 has stopped it (milliseconds since 1970); undefined when it is open, and for days. */
  readonly pausedUntil: number | undefined;
  /** The answer that stopped it, as `429 on emails.send`, here or in a process that shares it; undefined when open. */
  readonly pausedBy: string | undefined;
  /**
   * Why the Redis that shares it cannot be asked, and what decides what happens meanwhile; `used` is then what was
   * last known. Undefined while it answers, and for limits of one process.
   */
  readonly lost: string | undefined;
  /** How many calls of this process wait and will spend it, by their priority. */
  readonly waiting: ByPriority;
}

/**
 * The numbers of the service document, or one's own. Short windows are waited for; a day that is used up is a
 * RateLimitError at once.
 *
 * Source: service document, Limits.
 */
export interface Limits {
  /** Requests of one key. Documented: 100 in 10 seconds. */
  readonly requests: Limit;
  /** Requests of one key in any 24 hours, at least 1. Documented: 50,000. */
  readonly requestsPerDay: number;
  /** Emails of one key, sent or scheduled. Documented: 20 in 60 seconds. */
  readonly emails: Limit;
  /** Emails of one key in any 24 hours, at least 1. Documented: 300. */
  readonly emailsPerDay: number;
  /** Events of one workspace, alone or in batches. Documented: 50 a second. */
  readonly events: Limit;
  /** Events of one workspace in any 24 hours, at least 1. Documented: 100,000. */
  readonly eventsPerDay: number;
}

/** The documented limits. Source: service document, Limits. */
export const documentedLimits: Limits = {
  requests: { max: 100, perMs: 10_000 },
  requestsPerDay: 50_000,
  emails: { max: 20, perMs: 60_000 },
  emailsPerDay: 300,
  events: { max: 50, perMs: 1_000 },
  eventsPerDay: 100_000,
};

const isCount = (value: unknown): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 1;

const windowFaults = (name: string, value: unknown): string[] => {
  const { max, perMs, ...more }: { max?: unknown; perMs?: unknown } = Object(value);
  const fits = isPlainObject(value) && isCount(max) && Number.isFinite(perMs) && Number(perMs) > 0;
  if (!fits) {
    return [`limits.${name} must be { max, perMs }: a whole number of at least 1, in milliseconds above 0`];
  }
  return Object.keys(more).map((key) => `limits.${name}: there is no field "${key}", only max and perMs`);
};

/** What is wrong with given limits. */
export const limitFaults = (limits: unknown): string[] => {
  if (!isPlainObject(limits)) return ["limits must be a plain object, or false"];
  return Object.entries(limits).flatMap(([name, value]) => {
    if (!Object.hasOwn(documentedLimits, name)) return [`limits: there is no limit "${name}"`];
    if (value === undefined)
      return [`limits.${name} must not be undefined: leave it out for the documented one`];
    if (!name.endsWith("PerDay")) return windowFaults(name, value);
    return isCount(value) ? [] : [`limits.${name} must be a whole number of at least 1`];
  });
};
