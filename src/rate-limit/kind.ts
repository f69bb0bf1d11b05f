import type { Priority } from "../options/priority.ts";
import type { Gate, SharingRequest } from "../options/shared-limits.ts";
import type { Budget } from "./budget.ts";

/** How an attempt has ended: `roundTripMs` after a response; `wasSent` false if it was never sent. */
export interface Ending {
  readonly roundTripMs: number | undefined;
  readonly wasSent: boolean;
}

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
  /** The weight of the latest request. */
  weight = 1;
  /** Requests that wait. */
  waiting = 0;
  inFlight = 0;
  /** The largest batch that the service may accept. */
  #mostAtOnce = Number.POSITIVE_INFINITY;

  constructor(budgets: readonly Budget[], priority: Priority) {
    const narrowest = budgets.at(-1);
    if (narrowest === undefined) throw new RangeError("a request spends one limit at least");
    this.budgets = budgets;
    this.narrowest = narrowest;
    this.priority = priority;
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

  /** What a request of this weight spends of a budget. */
  weightOf(budget: Budget, weight: number): number {
    return budget === this.narrowest ? weight : 1;
  }

  /** How many permits of a budget a request of this weight takes. */
  amountOf(budget: Budget, weight: number): number {
    return budget.amountOf(this.weightOf(budget, weight));
  }

  /** A request goes, and takes its permits. */
  take(request: SharingRequest): void {
    const { gate } = this;
    if (gate !== undefined) return gate.take(request);
    for (const budget of this.budgets) budget.take(this.weightOf(budget, request.weight), request, this);
  }

  /** A request that has gone ended. */
  settle(request: SharingRequest, how: Ending): void {
    const { gate } = this;
    if (gate !== undefined) return gate.settle(request, how);
    for (const budget of this.budgets) {
      const weight = this.weightOf(budget, request.weight);
      if (how.wasSent) budget.settle(weight, request, this, how.roundTripMs);
      else budget.refund(weight, request, this);
    }
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
    return Math.min(share, Math.ceil(wide.limit.max / 2));
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

  /** The size for a batch that must not be sent whole: the service, or the reserve, allows no more; undefined if it may. */
  cutTo(weight: number, leastReserve: number): number | undefined {
    if (weight > this.#mostAtOnce) return this.#mostAtOnce;
    if (this.priority === "interactive") return undefined;
    const largest = this.narrowest.largestBatch(leastReserve);
    return this.narrowest.amountOf(weight) > largest ? largest : undefined;
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
