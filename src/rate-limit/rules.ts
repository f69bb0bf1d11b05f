import type { Limit } from "../options/limits.ts";

// The rules of priorities, shares and windows, as functions of numbers. Budgets of one process and budgets that
// processes share use the same rules. A request may spend several budgets. For example, an event spends `requests`, the
// wider budget, and `events`, the narrower one.

/** After an interactive call, background work leaves a reserve for this many windows. */
export const rememberedWindows = 3;
/** Background work leaves this many times the permits that interactive calls used in the last window. */
const reserveFactor = 1.5;
/** The part of each budget that background work gets, even if interactive calls could use all of it. */
const backgroundPart = 0.1;
/** The largest part of a budget that requests with a narrower budget may use or have kept for them, all together. */
const mostKept = 0.9;

/**
 * The reserve: how many permits of a window background work leaves while there are interactive calls.
 *
 * @param interactive - the permits that interactive calls hold.
 * @param least - the smallest reserve, as a fraction of the limit.
 */
export const reserveOf = (max: number, interactive: number, least: number): number =>
  Math.ceil(
    Math.min(Math.max(max * least, interactive * reserveFactor), Math.floor(max * (1 - backgroundPart))),
  );

/** How many idle permits a background request leaves: the reserve, less the permits that interactive calls hold. */
export const keptOfReserve = (reserve: number, max: number, amount: number, interactive: number): number =>
  // A batch too large to leave the whole reserve may still go when the whole budget is free.
  Math.max(0, Math.min(reserve, max - amount) - interactive);

/**
 * Whether background work has had less than its tenth, so that a request of this amount goes before interactive
 * requests. A request larger than the tenth is due when background work holds no permits, and as many windows have
 * passed since its last request as this request needs tenths.
 *
 * @param background - the permits that background work holds.
 * @param sinceMs - the time since the last background request went.
 */
export const isBackgroundDue = (
  { max, windowMs }: Limit,
  amount: number,
  background: number,
  sinceMs: number,
): boolean => {
  const part = max * backgroundPart;
  return background + amount <= part || (background === 0 && sinceMs >= (amount / part) * windowMs);
};

/**
 * The share of a budget for one kind of requests that also needs a narrower budget, and the permits that the kind has
 * in use.
 */
export interface Share {
  readonly isInteractive: boolean;
  readonly share: number;
  readonly inUse: number;
}

/**
 * How many permits a request without a narrower budget leaves for requests with one: the unused part of their shares.
 * Otherwise, a burst of requests without a narrower budget could take all permits. Requests with a narrower budget
 * would then have to wait although it has room.
 */
export const keptForShares = (max: number, isInteractive: boolean, shares: Iterable<Share>): number => {
  let lacking = 0;
  let inUse = 0;
  for (const one of shares) {
    // Interactive requests keep no share free for background requests, which have their tenth.
    if (isInteractive && !one.isInteractive) continue;
    inUse += one.inUse;
    lacking += Math.max(0, one.share - one.inUse);
  }
  return Math.max(0, Math.min(lacking, Math.ceil(max * mostKept) - inUse));
};
