import type { Priority } from "../options/priority.ts";
import type { Budget } from "./budget.ts";
import type { Holding } from "./permits.ts";

/** How long a request has to wait at least, and for which of its budgets; 0 where nobody knows. */
export interface KnownWait {
  readonly ms: number;
  readonly budget: Budget;
}

/** Requests that spend the same budgets at the same priority, from whatever client. */
export class Kind {
  readonly budgets: readonly Budget[];
  readonly priority: Priority;
  /** The last budget: the one that is spent by weight, and that a 429 pauses. */
  readonly narrowest: Budget;
  /** What they hold of each of the budgets. */
  readonly holdings: readonly Holding[];
  /** Of the request that came last. */
  weight = 1;
  /** Requests that wait. */
  waiting = 0;
  inFlight = 0;

  constructor(budgets: readonly Budget[], narrowest: Budget, priority: Priority) {
    this.budgets = budgets;
    this.narrowest = narrowest;
    this.priority = priority;
    this.holdings = budgets.map((budget) => budget.newHolding(priority));
  }

  get isActive(): boolean {
    return this.waiting + this.inFlight > 0;
  }

  heldOf(budget: Budget): number {
    return this.holdings[this.budgets.indexOf(budget)]?.count ?? 0;
  }

  /** What a request of this weight takes of a budget. */
  amountOf(budget: Budget, weight: number): number {
    return budget.amountOf(budget === this.narrowest ? weight : 1);
  }

  /** Of a request that comes now. */
  knownWait(weight: number): KnownWait {
    let wait = { ms: 0, budget: this.narrowest };
    for (const budget of this.budgets) {
      const isNarrowest = budget === this.narrowest;
      const { interactive, background } = budget.queued;
      // Who waits for something narrower does not hold up those who need only this.
      const queued = this.priority === "interactive" ? interactive : interactive + background;
      const ms = budget.knownWaitMs(isNarrowest ? queued : this.waiting, this.amountOf(budget, weight));
      if (ms > wait.ms) wait = { ms, budget };
    }
    return wait;
  }
}

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
  // Of a budget that processes share, each keeps its part.
  const part = wide.reach < wide.limit.max ? wide.reach / wide.limit.max : 1;
  return Math.ceil(Math.min(share, Math.ceil(wide.limit.max * mostForOne)) * part);
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
  return Math.max(0, Math.min(lacking, Math.ceil(budget.reach * mostForAll) - held));
};
