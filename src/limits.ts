/** A window and how much may happen in it. */
export interface Limit {
  readonly max: number;
  readonly perMs: number;
}

/** How a budget stands at this moment. */
export interface BudgetState {
  readonly used: number;
  readonly left: number;
  /** When the next use becomes possible again; 0 when there is some left. */
  readonly freesInMs: number;
  /** Until when a 429 or 503 has stopped it (milliseconds since 1970); undefined when it is open. */
  readonly pausedUntil: number | undefined;
  /** The answer that stopped it, as `429 on emails.send`, here or in a process that shares it; undefined when open. */
  readonly pausedBy: string | undefined;
}

/** The numbers of the service document, or one's own. */
export interface Limits {
  readonly requests: Limit;
  readonly requestsPerDay: number;
  readonly emails: Limit;
  readonly emailsPerDay: number;
  readonly events: Limit;
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

/** What is wrong with given limits. */
export const limitFaults = (limits: Partial<Limits>): string[] => {
  if (typeof limits !== "object" || limits === null) return ["limits must be an object, or false"];
  return Object.entries(limits).flatMap(([name, value]) => {
    if (!(name in documentedLimits)) return [`limits: there is no limit "${name}"`];
    if (value === undefined)
      return [`limits.${name} must not be undefined: leave it out for the documented one`];
    if (name.endsWith("PerDay"))
      return isCount(value) ? [] : [`limits.${name} must be a whole number of at least 1`];
    const window = typeof value === "object" ? value : { max: Number.NaN, perMs: Number.NaN };
    const fits = isCount(window.max) && window.perMs > 0 && Number.isFinite(window.perMs);
    return fits
      ? []
      : [`limits.${name} must be { max, perMs }: a whole number of at least 1, in milliseconds above 0`];
  });
};
