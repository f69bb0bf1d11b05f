import type { Priority } from "../options/priority.ts";
import type { Gate } from "../options/shared-limits.ts";
import type { Budget } from "./budget.ts";
import type { Holding } from "./permits.ts";

/** How long a request has to wait at least, and for which of its budgets; 0 if unknown. */
export interface KnownWait {
  readonly ms: number;
  readonly budget: Budget;
}

/** Requests that spend the same budgets at the same priority, from any client. */
export class Kind {
  readonly budgets: readonly Budget[];
  readonly priority: Priority;
  /** The last budget: it is spent by weight, and a 429 pauses it. */
  readonly narrowest: Budget;
  /** How many permits of each budget they hold. */
  readonly holdings: readonly Holding[];
  /** The weight of the latest request. */
  weight = 1;
  /** Requests that wait. */
  waiting = 0;
  inFlight = 0;
  /** The largest batch that the service may accept. */
  #mostAtOnce = Number.POSITIVE_INFINITY;

  constructor(budgets: readonly Budget[], narrowest: Budget, priority: Priority) {
    this.budgets = budgets;
    this.narrowest = narrowest;
    this.priority = priority;
    this.holdings = budgets.map((budget) => budget.newHolding(priority));
  }

  /** The store that decides for this kind together with other processes; undefined if this process decides alone. */
  get gate(): Gate | undefined {
    return this.narrowest.shared?.gate;
  }

  /** Whether the service has stopped any of its limits. */
  get isPaused(): boolean {
    for (const { pausedForMs } of this.budgets) if (pausedForMs > 0) return true;
    return false;
  }

  get isActive(): boolean {
    return this.waiting + this.inFlight > 0;
  }

  heldOf(budget: Budget): number {
    return this.holdings[this.budgets.indexOf(budget)]?.count ?? 0;
  }

  /** How many permits of a budget a request of this weight takes. */
  amountOf(budget: Budget, weight: number): number {
    return budget.amountOf(budget === this.narrowest ? weight : 1);
  }

  /**
   * Its share of a wider budget: what its narrowest budget allows in a window of the wide one, at most half of that.
   *
   * With 50 events in a second, batches of 25 can use 20 of 100 requests in 10 seconds.
   */
  shareOf(wide: Pick<Budget, "limit">): number {
    const { max, windowMs } = this.narrowest.limit;
    const each = this.narrowest.amountOf(this.weight);
    const share = Math.ceil((wide.limit.windowMs / windowMs) * (max / each));
    return Math.min(share, Math.ceil(wide.limit.max * mostForOne));
  }

  /** The service answered 429. A batch larger than the limit may never fit where it counts all of its events at once. */
  refused(weight: number): void {
    const { max } = this.narrowest.limit;
    if (weight > max) this.#mostAtOnce = max;
  }

  /** The budget that a pause of so long stops: a long one stops sending only, where the kind spends that. */
  stoppedFor(ms: number): Budget {
    const sending = this.budgets.length > 2 ? this.budgets.at(-2) : undefined;
    return (ms > this.narrowest.limit.windowMs && sending) || this.narrowest;
  }

  /** The size for a batch that must not be sent whole; undefined if it may. */
  cutTo(weight: number, leastReserve: number): number | undefined {
    const { narrowest, priority } = this;
    if (weight > this.#mostAtOnce) return this.#mostAtOnce;
    return priority === "background" ? narrowest.cutTo(narrowest.amountOf(weight), leastReserve) : undefined;
  }

  /** For a new request. */
  knownWait(weight: number): KnownWait {
    let wait = { ms: 0, budget: this.narrowest };
    for (const budget of this.budgets) {
      const isNarrowest = budget === this.narrowest;
      const { interactive, background } = budget.queued;
      // A request that waits for a narrower budget does not delay requests that need only this one.
      const queued = this.priority === "interactive" ? interactive : interactive + background;
      const ms = budget.knownWaitMs(isNarrowest ? queued : this.waiting, this.amountOf(budget, weight));
      if (ms > wait.ms) wait = { ms, budget };
    }
    return wait;
  }
}

/** The largest share of a wide budget: for requests of one kind, and for all kinds together. */
const mostForOne = 1 / 2;
const mostForAll = 9 / 10;

/**
 * How many permits of a budget a request of this kind leaves for requests that also need a narrower budget: what is
 * missing of their shares. Otherwise requests without a narrower budget could take all permits in a burst, and leave
 * none when the narrower budget has room.
 *
 * @param sharing - the kinds with more than one budget; those count that wait or are in flight.
 */
export const keptForShares = (kind: Kind, budget: Budget, sharing: readonly Kind[]): number => {
  if (budget !== kind.narrowest) return 0;
  let lacking = 0;
  let held = 0;
  for (const other of sharing) {
    if (!other.isActive || other.narrowest === budget || !other.budgets.includes(budget)) continue;
    // Interactive calls leave nothing for background ones except their tenth.
    if (kind.priority === "interactive" && other.priority === "background") continue;
    const has = other.heldOf(budget);
    held += has;
    lacking += Math.max(0, other.shareOf(budget) - has);
  }
  return Math.max(0, Math.min(lacking, Math.ceil(budget.limit.max * mostForAll) - held));
};
