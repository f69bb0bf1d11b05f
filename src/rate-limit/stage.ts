import { retryAfterMs } from "../http/retry-after.ts";
import { AttemptFailure, type HttpRequest, type HttpResponse, type Stage } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import type { Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import { Passing, type Route } from "./admission.ts";
import type { Slots } from "./concurrency.ts";
import type { Traffic } from "./limiter.ts";

export interface PacingSettings {
  readonly traffic: Traffic;
  /** Requests in flight at most; siblings share them. */
  readonly slots: Slots;
  /** A pause that lasts longer is not waited for. */
  readonly maxRetryAfterMs: number;
  readonly clock: Clock;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

// A 429 that names no time stops its budget for as long as a first back-off may last.
const unnamedPauseMs = 1_000;

class Gate {
  readonly #settings: PacingSettings;
  readonly #routes = new Map<string, Route>();

  constructor(settings: PacingSettings) {
    this.#settings = settings;
  }

  /** Takes what the request spends; a promise when it has to wait for it. */
  enter(passing: Passing): Promise<void> | undefined {
    const waiting = this.#settings.traffic.lanes.enter(passing.route.lane, passing);
    return waiting && this.#wait(waiting, passing);
  }

  leave(passing: Passing, roundTripMs: number | undefined): void {
    if (passing.wasSent) passing.settle(roundTripMs);
    else passing.refund();
    this.#settings.slots.free();
    // Once all is given back: in between, what requests of its kind hold would count twice, or not at all.
    this.#settings.traffic.lanes.pump();
  }

  heed({ request, route: { narrowest } }: Passing, { status, headers }: HttpResponse): void {
    const ms = retryAfterMs(headers, this.#settings.clock.wallTime());
    const by = `${status} on ${request.operation}`;
    if (status === 429) narrowest?.heed(ms ?? unnamedPauseMs, by);
    if (status === 503 && ms !== undefined) narrowest?.heed(ms, by);
  }

  passingOf(request: HttpRequest): Passing {
    return new Passing(request, this.#routeOf(request.budgets), this.#settings.maxRetryAfterMs);
  }

  #routeOf(names: readonly BudgetName[]): Route {
    const key = names.join();
    const known = this.#routes.get(key);
    if (known !== undefined) return known;
    const { traffic } = this.#settings;
    const budgets = names.map((name) => traffic.budgets[name]);
    const narrowest = budgets.at(-1);
    const route: Route = {
      lane: traffic.laneOf(this.#settings.slots, names),
      budgets,
      days: names.map((name) => traffic.days[name]),
      narrowest,
    };
    this.#routes.set(key, route);
    return route;
  }

  async #wait(waiting: Promise<void>, passing: Passing): Promise<void> {
    const { clock } = this.#settings;
    const { onWait, stats } = passing.request;
    const since = clock.now();
    let told: string | undefined;
    // Again where it comes to wait for something else: for a slot first, say, and with the slot for a limit.
    const tell = (): void => {
      const notice = this.#noticeOf(passing);
      const what = `${notice.reason} ${notice.waitingFor}`;
      if (what === told) return;
      told = what;
      this.#settings.onWait?.(notice);
      onWait?.(notice.reason === "pause" ? "retry-after" : notice.waitingFor);
    };
    passing.onStopped = tell;
    tell();
    try {
      await waiting;
    } finally {
      stats.waitedMs += clock.now() - since;
      onWait?.(undefined);
    }
  }

  #noticeOf({ request, route }: Passing): WaitNotice {
    const { traffic, slots } = this.#settings;
    const blockers = traffic.lanes.blockers(route.lane, request.weight);
    const [longest] = route.budgets
      .filter((candidate) => blockers.includes(candidate))
      .toSorted((one, other) => other.waitMs() - one.waitMs());
    // A request behind others in the line lacks nothing itself: it waits for what they wait for.
    const budget = longest ?? route.budgets.findLast(({ waiters }) => waiters > 1);
    const { operation } = request;
    if (budget === undefined || blockers.includes(slots)) {
      return { operation, waitingFor: slots.name, reason: "concurrency", waitMs: 0 };
    }
    const reason = budget.isProbing ? "pause" : "limit";
    return { operation, waitingFor: budget.name, reason, waitMs: budget.waitMs() };
  }
}

/**
 * Lets requests leave only as fast as the limits allow, and stops a budget for as long as the service asks: each
 * waits until every budget it spends has room and the client has a slot free.
 */
export const pacing = (settings: PacingSettings): Stage => {
  const gate = new Gate(settings);
  const { clock } = settings;
  return (next) => async (request) => {
    const passing = gate.passingOf(request);
    const waiting = gate.enter(passing);
    if (waiting !== undefined) await waiting;
    const since = clock.now();
    let roundTripMs: number | undefined;
    try {
      const response = await next({ ...request, isHeld: () => passing.isHeld });
      roundTripMs = clock.now() - since;
      if (response.status === 429 || response.status === 503) gate.heed(passing, response);
      return response;
    } catch (failure) {
      // Only the transport can say that nothing left; whatever else failed did so before it.
      passing.wasSent = failure instanceof AttemptFailure && failure.wasSent;
      throw failure;
    } finally {
      gate.leave(passing, roundTripMs);
    }
  };
};
