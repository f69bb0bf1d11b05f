import type { Priority } from "../options/priority.ts";
import type { Budget } from "./budget.ts";
import type { Holding } from "./permit-cooldown.ts";

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
