import type { Budget } from "./budget.ts";
import type { Kind } from "./kind.ts";

/** The part of a wide budget that is kept at most for requests of one kind, and for those of all kinds. */
const mostForOne = 1 / 2;
const mostForAll = 9 / 10;

/**
 * What the narrowest budget of a kind lets through in a window of a wide one, half of that at most: its share.
 *
 * With 50 events in a second, batches of 25 can use 20 of 100 requests in 10 seconds.
 */
const shareOf = ({ narrowest, weight }: Kind, wide: Budget): number => {
  const { max, perMs } = narrowest.limit;
  const each = narrowest.amountOf(weight);
  const share = Math.ceil((wide.limit.perMs / perMs) * (max / each));
  return Math.min(share, Math.ceil(wide.limit.max * mostForOne), wide.reach);
};

/**
 * How many permits of a budget a request of this kind leaves for others, which need them with a narrower budget: what
 * their shares lack. Whoever needs nothing else would take all of it in a burst, and leave them none once the narrower
 * budget has room.
 *
 * @param sharing - the kinds that need more than one budget; those count that wait or are in flight.
 */
export const keptForShares = (kind: Kind, budget: Budget, sharing: readonly Kind[]): number => {
  if (budget !== kind.narrowest) return 0;
  let lacking = 0;
  let held = 0;
  for (const other of sharing) {
    if (!other.isActive || other.narrowest === budget || !other.budgets.includes(budget)) continue;
    // Interactive calls leave nothing for background ones but the tenth that those have by right.
    if (kind.priority === "interactive" && other.priority === "background") continue;
    const has = other.heldOf(budget);
    held += has;
    lacking += Math.max(0, shareOf(other, budget) - has);
  }
  return Math.max(0, Math.min(lacking, Math.ceil(budget.limit.max * mostForAll) - held));
};
