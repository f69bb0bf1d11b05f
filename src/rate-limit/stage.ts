import { retryAfterMs } from "../http/retry-after.ts";
import { AttemptFailure, type HttpRequest, type HttpResponse, type Stage } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import { whenAborted } from "../runtime/cancellation.ts";
import type { Cancel } from "../runtime/clock.ts";
import { Admission, type Route, type WaitSettings } from "./admission.ts";
import type { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { RateLimiter } from "./limiter.ts";

export interface RateLimitSettings extends Omit<WaitSettings, "onStopped" | "send"> {
  readonly limiter: RateLimiter;
  /** Requests in flight at most; siblings share them. */
  readonly slots: ConcurrencyLimit;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

// A 429 that names no time stops its budget for as long as a first back-off may last.
const unnamedPauseMs = 1_000;

/** What a waiting request lacks, for telling the user. */
const noticeOf = (limiter: RateLimiter, admission: Admission): WaitNotice => {
  const { request, queue } = admission;
  const { operation } = request;
  const blockers = limiter.queues.blockers(admission);
  const lacking = queue.kind.budgets.filter((budget) => blockers.includes(budget));
  const longest = lacking.reduce<Budget | undefined>(
    (most, budget) => (most === undefined || budget.waitMs() > most.waitMs() ? budget : most),
    undefined,
  );
  // A request behind others lacks nothing itself: it waits for what they wait for.
  const budget = longest ?? queue.kind.budgets.findLast(({ waiters }) => waiters > 1);
  if (budget === undefined || blockers.includes(queue.slots))
    return { operation, waitingFor: queue.slots.name, reason: "concurrency", waitMs: 0 };
  const reason = budget.isProbing ? "pause" : "limit";
  return { operation, waitingFor: budget.name, reason, waitMs: budget.waitMs() };
};

/**
 * Lets requests leave only as fast as the limits allow, and stops a budget for as long as the service asks: each waits
 * until every budget it spends has room and the client has a slot free.
 */
export const rateLimit = (settings: RateLimitSettings): Stage => {
  const { limiter, slots, clock } = settings;
  const routes = new Map<string, Route>();

  const routeOf = ({ budgets, priority }: HttpRequest): Route => {
    const key = `${priority} ${budgets.join()}`;
    const route = routes.get(key) ?? limiter.route(budgets, priority, slots);
    routes.set(key, route);
    return route;
  };

  // Again where it comes to wait for something else: for a slot first, say, and with the slot for a limit.
  const onStopped = (admission: Admission): void => {
    const notice = noticeOf(limiter, admission);
    if (notice.reason === admission.reason && notice.waitingFor === admission.waitingFor) return;
    admission.reason = notice.reason;
    admission.waitingFor = notice.waitingFor;
    settings.onWait?.(notice);
    admission.request.onWait?.(notice.reason === "pause" ? "retry-after" : notice.waitingFor);
  };
  const linkToSignal = (admission: Admission): Cancel =>
    whenAborted(admission.signal, () => limiter.queues.refuse(admission, admission.signal?.reason));

  const startTimer = (admission: Admission): Cancel | undefined => {
    const { waits } = admission.request;
    const refuse = (): void =>
      limiter.queues.refuse(admission, admission.refusedWait("it has waited for maxWaitMs"));
    return waits && clock.after(waits.leftMs, refuse);
  };

  const applyPause = ({ request, queue }: Admission, { status, headers }: HttpResponse): void => {
    const ms = retryAfterMs(headers, clock.wallTime());
    const by = `${status} on ${request.operation}`;
    if (status === 429) queue.kind.narrowest.applyPause(ms ?? unnamedPauseMs, by);
    if (status === 503 && ms !== undefined) queue.kind.narrowest.applyPause(ms, by);
  };

  return (next) => {
    const sendAdmitted = async (admission: Admission): Promise<HttpResponse> => {
      const since = clock.now();
      let roundTripMs: number | undefined;
      let wasSent = true;
      try {
        const response = await next({ ...admission.request, isHeld: () => admission.isHeld });
        roundTripMs = clock.now() - since;
        if (response.status === 429 || response.status === 503) applyPause(admission, response);
        return response;
      } catch (failure) {
        // Only the transport can say that nothing left; whatever else failed did so before it.
        wasSent = failure instanceof AttemptFailure && failure.wasSent;
        throw failure;
      } finally {
        admission.end({ roundTripMs, wasSent });
        // Once all is given back: in between, what it holds would count twice, or not at all.
        limiter.queues.pump();
      }
    };

    const waitSettings = { ...settings, onStopped, send: sendAdmitted };

    // No async function: 100,000 calls may wait here, and each such frame takes half a kilobyte.
    const beginWait = (admission: Admission): Promise<HttpResponse> =>
      new Promise((resolve, reject) => {
        admission.wait({ resolve, reject, unlink: linkToSignal(admission), cancel: startTimer(admission) });
        onStopped(admission);
      });

    return function rateLimit(request) {
      const admission = new Admission(request, routeOf(request), waitSettings);
      try {
        return limiter.queues.enter(admission) ? sendAdmitted(admission) : beginWait(admission);
      } catch (refusal) {
        return Promise.reject(refusal);
      }
    };
  };
};
