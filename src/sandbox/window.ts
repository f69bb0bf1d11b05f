/** At most `max` in `windowMs` milliseconds, counted as `kind` says. */
export interface LimitWindow {
  /** Above 0; `Infinity` for no limit. */
  readonly max: number;
  /** The length of the window in milliseconds, above 0. */
  readonly windowMs: number;
}

export const day = 86_400_000;

/** The numbers of the service document. Source: service document, Limits. */
export const documentedLimits = {
  requests: { max: 100, windowMs: 10_000 },
  requestsPerDay: { max: 50_000, windowMs: day },
  emails: { max: 20, windowMs: 60_000 },
  emailsPerDay: { max: 300, windowMs: day },
  events: { max: 50, windowMs: 1_000 },
  eventsPerDay: { max: 100_000, windowMs: day },
} as const satisfies Record<string, LimitWindow>;

/** The names of the limits: the documented ones, and the daily limit of a mail account. */
export type LimitName = keyof typeof documentedLimits | "mailAccountPerDay";

/** How the service counts: every window of that length, aligned windows, or a bucket that refills steadily. */
export type LimitKind = "sliding" | "fixed" | "bucket";

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

/** Entries in order of expiry; a head index makes dropping the oldest cheap at any length. */
const createSliding = (window: LimitWindow): Meter => {
  let expiries: number[] = [];
  let weights: number[] = [];
  let head = 0;
  let sum = 0;
  const drop = (now: number): void => {
    while (head < expiries.length && (expiries[head] ?? 0) <= now) {
      sum -= weights[head] ?? 0;
      head += 1;
    }
    if (head > 1_024 && head * 2 > expiries.length) {
      expiries = expiries.slice(head);
      weights = weights.slice(head);
      head = 0;
    }
  };
  return {
    window,
    waitMs(weight, now) {
      drop(now);
      // A weight above the limit passes alone, when nothing else is in the window.
      const most = window.max - Math.min(weight, window.max);
      let left = sum;
      for (let index = head; left > most; index += 1) {
        left -= weights[index] ?? 0;
        if (left <= most) return (expiries[index] ?? now) - now;
      }
      return 0;
    },
    take(weight, now) {
      drop(now);
      expiries.push(now + window.windowMs * Math.max(1, weight / window.max));
      weights.push(Math.min(weight, window.max));
      sum += Math.min(weight, window.max);
    },
    used(now) {
      drop(now);
      return sum;
    },
  };
};

const createFixed = (window: LimitWindow): Meter => {
  let index = -1;
  let count = 0;
  let fullUntil = Number.NEGATIVE_INFINITY;
  const roll = (now: number): void => {
    const current = Math.floor(now / window.windowMs);
    if (current === index) return;
    index = current;
    count = 0;
  };
  return {
    window,
    waitMs(weight, now) {
      roll(now);
      if (fullUntil > now) return fullUntil - now;
      return count + Math.min(weight, window.max) > window.max ? (index + 1) * window.windowMs - now : 0;
    },
    take(weight, now) {
      roll(now);
      if (weight > window.max) fullUntil = now + (window.windowMs * weight) / window.max;
      else count += weight;
    },
    used(now) {
      roll(now);
      return fullUntil > now ? window.max : count;
    },
  };
};

const createBucket = (window: LimitWindow): Meter => {
  const windowMs = window.max / window.windowMs;
  let level = window.max;
  let at = Number.NEGATIVE_INFINITY;
  const fill = (now: number): void => {
    if (now > at) level = Math.min(window.max, level + (now - at) * windowMs);
    at = now;
  };
  return {
    window,
    waitMs(weight, now) {
      fill(now);
      const missing = Math.min(weight, window.max) - level;
      // Many small refills add up rounding errors: a billionth short counts as full.
      return missing > window.max * 1e-9 ? missing / windowMs : 0;
    },
    // An oversized batch leaves a debt that the following windows pay off.
    take(weight, now) {
      fill(now);
      level -= weight;
    },
    used(now) {
      fill(now);
      return Math.min(window.max, window.max - level);
    },
  };
};

const makers = { sliding: createSliding, fixed: createFixed, bucket: createBucket } as const;

/** Builds the counter of one limit. */
export const createMeter = (kind: LimitKind, window: LimitWindow): Meter => makers[kind](window);
