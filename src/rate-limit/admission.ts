import { ConnectionError, RateLimitError } from "../errors.ts";
import { type HttpRequest, progressOf } from "../http/types.ts";
import type { Day } from "../options/shared-limits.ts";
import type { Budget } from "./budget.ts";
import { arrive, type Lane, type Passage } from "./lane.ts";

/** What one combination of budgets needs at each request, made once. */
export interface Route {
  readonly lane: Lane;
  readonly budgets: readonly Budget[];
  readonly days: readonly Day[];
  /** The last budget named by the operation: the one spent by weight, and the one that a 429 pauses. */
  readonly narrowest: Budget | undefined;
}

const inWords = (ms: number): string => {
  if (ms < 120_000) return `${Math.ceil(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.ceil(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
};

/** One attempt on its way through the budgets: what it spends, and why it may not. */
export class Passing implements Passage {
  readonly request: HttpRequest;
  readonly route: Route;
  wasSent = true;
  /** Told when what it waits for may have changed. */
  onStopped: (() => void) | undefined;
  readonly #maxPauseMs: number;

  constructor(request: HttpRequest, route: Route, maxPauseMs: number) {
    this.request = request;
    this.route = route;
    this.#maxPauseMs = maxPauseMs;
  }

  /** Whether a pause has begun since it was let go. */
  get isHeld(): boolean {
    return this.route.budgets.some((budget) => budget.pausedForMs > 0);
  }

  get lane(): Lane {
    return this.route.lane;
  }

  get weight(): number {
    return this.request.weight;
  }

  get signal(): AbortSignal | undefined {
    return this.request.signal;
  }

  refusal(): Error | undefined {
    const { budgets, days } = this.route;
    for (const [index, budget] of budgets.entries()) {
      const weight = this.#weightOf(budget);
      const day = days[index];
      if (day !== undefined && !day.has(weight)) {
        const waitMs = day.freesInMs(weight);
        const what = `${day.name} is used up (${day.used} of ${day.max})`;
        return this.#refused(`${what}; more frees in ${inWords(waitMs)}`, waitMs);
      }
      if (budget.isLost) {
        budget.seek();
        return this.#unreachable();
      }
      const waitMs = budget.pausedForMs;
      if (waitMs > this.#maxPauseMs) {
        const what = `the service asked to send nothing on ${budget.name} for another ${inWords(waitMs)}`;
        return this.#refused(`${what}, which is longer than maxRetryAfterMs`, waitMs);
      }
    }
    return undefined;
  }

  admitted(): void {
    this.#countDay(1);
  }

  stopped(): void {
    this.onStopped?.();
  }

  refund(): void {
    arrive(this.lane, this.weight);
    this.#countDay(-1);
    for (const budget of this.route.budgets) budget.refund(this.#weightOf(budget), this);
  }

  settle(roundTripMs: number | undefined): void {
    arrive(this.lane, this.weight);
    for (const budget of this.route.budgets) budget.settle(this.#weightOf(budget), this, roundTripMs);
  }

  #countDay(sign: 1 | -1): void {
    for (const [index, budget] of this.route.budgets.entries()) {
      this.route.days[index]?.add(sign * this.#weightOf(budget));
    }
  }

  #weightOf(budget: Budget): number {
    return budget === this.route.narrowest ? this.request.weight : 1;
  }

  #unreachable(): ConnectionError {
    const { operation } = this.request;
    const why = "the store of the shared limits is out of reach";
    return new ConnectionError(`${operation}: not sent, ${why}: see to Redis, or allow onLost: "open"`, {
      ...progressOf(this.request),
    });
  }

  #refused(why: string, retryAfterMs: number): RateLimitError {
    return new RateLimitError(`${this.request.operation}: not sent, ${why}`, {
      ...progressOf(this.request),
      status: 429,
      headers: new Headers(),
      body: undefined,
      retryAfterMs,
    });
  }
}
