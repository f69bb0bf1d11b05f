import type { Clock } from "../clock.ts";
import { RateLimitError } from "../errors.ts";
import type { WaitNotice } from "../notices.ts";
import type { BudgetName } from "../operations/define.ts";
import type { Budget } from "./budget.ts";
import type { DayCount } from "./day-count.ts";
import { type Lane, lane } from "./lanes.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { Slots } from "./slots.ts";
import type { Traffic } from "./traffic.ts";
import { AttemptFailure, type HttpRequest, type HttpResponse, outcomeOf, type Stage } from "./types.ts";

export interface PacingSettings {
  readonly traffic: Traffic;
  /** Requests in flight. */
  readonly slots: Slots;
  readonly clock: Clock;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

/** What one combination of budgets needs at each request, made once. */
interface Route {
  readonly lane: Lane;
  readonly budgets: readonly Budget[];
  readonly days: readonly DayCount[];
  /** The last budget named by the operation: the one spent by weight, and the one that a 429 pauses. */
  readonly narrowest: Budget | undefined;
}

// A 429 that names no time stops its budget for as long as a first back-off may last.
const unnamedPauseMs = 1_000;

/** Lets requests leave only as fast as the limits allow, and stops a budget for as long as the service asks. */
class Pacing {
  readonly #settings: PacingSettings;
  readonly #slots: Slots;
  readonly #routes = new Map<readonly BudgetName[], Route>();

  constructor(settings: PacingSettings) {
    this.#settings = settings;
    this.#slots = settings.slots;
  }

  routeOf(names: readonly BudgetName[]): Route {
    const known = this.#routes.get(names);
    if (known !== undefined) return known;
    const { traffic } = this.#settings;
    const budgets = names.map((name) => traffic.budgets[name]);
    const narrowest = budgets.at(-1);
    const route: Route = {
      lane: lane([this.#slots, ...budgets], narrowest),
      budgets,
      days: names.map((name) => traffic.days[name]),
      narrowest,
    };
    this.#routes.set(names, route);
    return route;
  }

  enter(route: Route, request: HttpRequest): Promise<void> | undefined {
    this.refuseUsedUpDay(route, request);
    const waiting = this.#settings.traffic.lanes.enter(route.lane, request.weight, request.signal);
    return waiting === undefined ? undefined : this.#wait(waiting, route, request);
  }

  leave(route: Route, request: HttpRequest, wasSent: boolean): void {
    this.#slots.free();
    for (const budget of route.budgets) {
      const weight = this.#weightOf(budget, route, request);
      if (wasSent) budget.settle(weight);
      else budget.refund(weight);
    }
    if (route.budgets.length === 0) this.#settings.traffic.lanes.pump();
  }

  heed(route: Route, { status, headers }: HttpResponse): void {
    const ms = retryAfterMs(headers, this.#settings.clock.wallTime());
    if (status === 429) route.narrowest?.pause(ms ?? unnamedPauseMs);
    if (status === 503 && ms !== undefined) route.narrowest?.pause(ms);
  }

  #weightOf(budget: Budget, route: Route, request: HttpRequest): number {
    return budget === route.narrowest ? request.weight : 1;
  }

  async #wait(waiting: Promise<void>, route: Route, request: HttpRequest): Promise<void> {
    const { traffic, clock, onWait } = this.#settings;
    const since = clock.now();
    if (onWait !== undefined) {
      const blockers = traffic.lanes.blockers(route.lane, request.weight);
      const budget = route.budgets.find((candidate) => blockers.includes(candidate));
      onWait({
        operation: request.operation,
        waitingFor: budget?.name ?? this.#slots.name,
        reason: budget === undefined ? "concurrency" : budget.isPaused ? "pause" : "limit",
        waitMs: budget?.waitMs() ?? 0,
      });
    }
    try {
      await waiting;
    } finally {
      request.log.waitedMs += clock.now() - since;
    }
  }

  /** Counts the request towards its days; a negative `sign` takes it back. */
  countDay(route: Route, request: HttpRequest, sign: 1 | -1): void {
    for (const [index, budget] of route.budgets.entries()) {
      route.days[index]?.add(sign * this.#weightOf(budget, route, request));
    }
  }

  refuseUsedUpDay(route: Route, request: HttpRequest): void {
    for (const [index, day] of route.days.entries()) {
      const budget = route.budgets[index];
      const weight = budget === undefined ? 1 : this.#weightOf(budget, route, request);
      if (day.has(weight)) continue;
      const waitMs = day.freesInMs(weight);
      const hours = (waitMs / 3_600_000).toFixed(1);
      throw new RateLimitError(
        `${request.operation}: not sent, ${day.name} is used up (${day.used} of ${day.max}); more frees in ${hours} h`,
        {
          operation: request.operation,
          attempts: request.log.attempts,
          outcome: outcomeOf(request),
          status: 429,
          headers: new Headers(),
          body: undefined,
          retryAfterMs: waitMs,
        },
      );
    }
  }
}

/** Holds each request until every budget it spends has room and the client has a slot free. */
export const pacing = (settings: PacingSettings): Stage => {
  const gate = new Pacing(settings);
  return (next) => async (request) => {
    const route = gate.routeOf(request.budgets);
    const waiting = gate.enter(route, request);
    if (waiting !== undefined) await waiting;
    let wasSent = false;
    let isCounted = false;
    try {
      // Others may have used up the day while this one waited.
      if (waiting !== undefined) gate.refuseUsedUpDay(route, request);
      gate.countDay(route, request, 1);
      isCounted = true;
      wasSent = true;
      const response = await next(request);
      if (response.status === 429 || response.status === 503) gate.heed(route, response);
      return response;
    } catch (failure) {
      // Only the transport can say that nothing left; whatever else failed did so before it.
      wasSent = failure instanceof AttemptFailure && failure.wasSent;
      throw failure;
    } finally {
      if (isCounted && !wasSent) gate.countDay(route, request, -1);
      gate.leave(route, request, wasSent);
    }
  };
};
