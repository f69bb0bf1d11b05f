import type { Limit } from "../../src/options/limits.ts";

/** How a service may count: sliding windows, fixed windows, or a bucket that refills steadily. */
export type Counting = "sliding" | "fixed" | "bucket";

/** Counts the requests to a service, independently of the code under test. */
export interface ServiceLimiter {
  /** Counts `weight` at `now`. Returns 0 if the request is accepted, otherwise how many milliseconds it is too early. */
  ask(weight: number, now: number): number;
  readonly accepted: number;
  readonly refused: number;
}

const sliding = ({ max, windowMs }: Limit) => {
  let taken: { readonly at: number; readonly weight: number }[] = [];
  return (weight: number, now: number): number => {
    taken = taken.filter(({ at }) => at > now - windowMs);
    const used = taken.reduce((sum, one) => sum + one.weight, 0);
    if (used + weight > max) return (taken[0]?.at ?? now) + windowMs - now;
    taken.push({ at: now, weight });
    return 0;
  };
};

const fixed = ({ max, windowMs }: Limit) => {
  let window = Number.NaN;
  let used = 0;
  return (weight: number, now: number): number => {
    const current = Math.floor(now / windowMs);
    if (current !== window) [window, used] = [current, 0];
    if (used + weight > max) return (current + 1) * windowMs - now;
    used += weight;
    return 0;
  };
};

const bucket = ({ max, windowMs }: Limit) => {
  let level = max;
  let at = 0;
  return (weight: number, now: number): number => {
    level = Math.min(max, level + ((now - at) * max) / windowMs);
    at = now;
    // If only a millionth of a token is missing, that is a rounding error.
    if (level + 1e-6 < weight) return ((weight - level) * windowMs) / max;
    level -= weight;
    return 0;
  };
};

const countings = { sliding, fixed, bucket } as const;

/** The limiter of a service, with one way of counting. */
export const serviceLimiter = (counting: Counting, limit: Limit): ServiceLimiter => {
  const earlyMs = countings[counting](limit);
  let accepted = 0;
  let refused = 0;
  return {
    ask: (weight, now) => {
      const early = earlyMs(weight, now);
      if (early > 0) refused += 1;
      else accepted += weight;
      return early;
    },
    get accepted() {
      return accepted;
    },
    get refused() {
      return refused;
    },
  };
};
