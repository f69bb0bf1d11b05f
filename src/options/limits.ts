import { isNumber, must, mustBeText, mustBeWhole, optionsOf, type Rules } from "../runtime/rules.ts";
import type { ByPriority } from "./priority.ts";

/** The maximum number of requests, emails or events in a window. */
export interface Limit {
  /** The maximum number in any window; a whole number of at least 1. */
  readonly max: number;
  /** The length of the window in milliseconds; above 0. */
  readonly windowMs: number;
}

/** The current state of a limit. */
export interface BudgetState {
  /** The number of requests, emails or events that count now; for shared limits, those of all processes. */
  readonly used: number;
  /**
   * How many more may be sent at once. Some of them may be reserved for calls that wait for another limit. `Infinity`
   * with `limits: false`.
   */
  readonly remaining: number;
  /** The minimum time until the next use is possible, in milliseconds; 0 if some remain. */
  readonly resetsInMs: number;
  /**
   * The end of a pause after a 429 or 503, in milliseconds since 1970; undefined without a pause, and for daily limits.
   */
  readonly pausedUntil: number | undefined;
  /**
   * The response that caused the pause, for example `429 on emails.send`, here or in another process; undefined without
   * one.
   */
  readonly pausedBy: string | undefined;
  /**
   * Why the store of a shared limit is unavailable, and which option decides what happens meanwhile. `used` is then the
   * last known value. Undefined while the store responds, and for limits of one process.
   */
  readonly lost: string | undefined;
  /** The number of waiting calls in this process that will spend this limit, by priority. */
  readonly waiting: ByPriority;
}

/**
 * The limits. A call waits if the limit of a short window is used up. If a daily limit is used up, the call fails at
 * once with a RateLimitError.
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

/**
 * Names for limits that several keys share: the service counts events per workspace and emails per mail account.
 * Clients that give a limit the same name count it together if they belong to the same process and origin; with
 * `redisLimits` or `sqlLimits`, if they use the same store.
 */
export interface LimitScopes {
  /**
   * The name for `requests`. A client whose `apiKey` is a function needs a name to share its limits with other and
   * later clients.
   */
  readonly requests?: string;
  /** The name for `emails`: the mail account. */
  readonly emails?: string;
  /** The name for `events`: the workspace. */
  readonly events?: string;
}

/** The documented limits. Source: service document, Limits. */
export const documentedLimits: Limits = {
  requests: { max: 100, windowMs: 10_000 },
  requestsPerDay: 50_000,
  emails: { max: 20, windowMs: 60_000 },
  emailsPerDay: 300,
  events: { max: 50, windowMs: 1_000 },
  eventsPerDay: 100_000,
};

const windowRules: Rules = {
  max: mustBeWhole(1),
  windowMs: must("a number above 0", (value) => Number.isFinite(value) && isNumber(value, Number.MIN_VALUE)),
};

const mustBeWindow = optionsOf(windowRules, "{ max, windowMs }", ["max", "windowMs"]);

const limitRules: Rules = Object.fromEntries(
  Object.entries<Limit | number>({ ...documentedLimits }).map(([name, limit]) => [
    name,
    typeof limit === "number" ? mustBeWhole(1) : mustBeWindow,
  ]),
);

/** Finds the faults of limit scopes. */
export const scopeFaults = optionsOf(
  { requests: mustBeText, emails: mustBeText, events: mustBeText },
  "a plain object of names by limit",
);

/** Finds the faults of limits. An undefined limit is a fault, too, because it would replace the documented one. */
export const limitFaults = (limits: unknown): readonly string[] =>
  optionsOf(limitRules, "a plain object, or false", Object.keys(Object(limits)))(limits, "limits");

/** Finds the faults of the numbers of shared limits, which need a number for every limit. */
export const sharedLimitFaults = (numbers: unknown): readonly string[] =>
  optionsOf(
    limitRules,
    "a plain object with every limit",
    Object.keys(limitRules),
  )(numbers, "limits.numbers");
