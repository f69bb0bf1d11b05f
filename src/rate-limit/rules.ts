import type { Limit } from "../options/limits.ts";

// The rules of priority, shares and windows, as functions of numbers: for the budgets of one process, and for those that
// processes share.

/** For how many windows interactive calls are remembered. */
export const rememberedWindows = 3;
/** Background work leaves so many times what interactive calls used in the last window. */
const reserveFactor = 1.5;
/** The part of each budget that background work keeps while interactive calls use all they can get. */
const backgroundPart = 0.1;
/** The largest part of a wide budget that is kept for all kinds that also need a narrower one. */
const mostShared = 0.9;

/** The part of a window that background work leaves while there are interactive calls; `least` is a share of the limit. */
export const reserveOf = (max: number, interactive: number, least: number): number =>
  Math.ceil(
    Math.min(Math.max(max * least, interactive * reserveFactor), Math.floor(max * (1 - backgroundPart))),
  );

/** How many idle permits a background request of this amount leaves of the reserve. */
export const keptOfReserve = (reserve: number, max: number, amount: number, interactive: number): number =>
  // A batch that is too large for what the reserve leaves may go when the whole budget is free.
  Math.max(0, Math.min(reserve, max - amount) - interactive);

/**
 * Whether background work has had less than its tenth, so that a request of this amount goes before interactive ones.
 *
 * @param background - the permits that background work holds.
 * @param sinceMs - how long ago its last request went.
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

/** The share of a wide budget of a kind that also needs a narrower one, and the permits that it has in use. */
export interface Share {
  readonly isInteractive: boolean;
  readonly share: number;
  readonly inUse: number;
}

/**
 * How many permits a request that needs no narrower budget leaves for those that do: what is missing of their shares.
 * Otherwise it and its like could take all permits in a burst, and leave none when the narrower budget has room.
 */
export const keptForShares = (max: number, isInteractive: boolean, shares: Iterable<Share>): number => {
  let lacking = 0;
  let inUse = 0;
  for (const one of shares) {
    // Interactive calls leave nothing for background ones except their tenth.
    if (isInteractive && !one.isInteractive) continue;
    inUse += one.inUse;
    lacking += Math.max(0, one.share - one.inUse);
  }
  return Math.max(0, Math.min(lacking, Math.ceil(max * mostShared) - inUse));
};
