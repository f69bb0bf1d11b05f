import type { HttpResponse } from "../http/message.ts";
import type { Scope } from "../http/scope.ts";
import { AttemptFailure, type Stage } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import { whenAborted } from "../runtime/cancellation.ts";
import type { Cancel } from "../runtime/clock.ts";
import { retryAfterMs } from "../runtime/headers.ts";
import { Admission, type WaitSettings } from "./admission.ts";
import type { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { RateLimiter } from "./limiter.ts";
import type { AdmissionQueue } from "./queue.ts";

export interface RateLimitSettings extends Omit<WaitSettings, "onStopped"> {
  readonly limiter: RateLimiter;
  /** The maximum of requests in flight; siblings share it. */
  readonly slots: ConcurrencyLimit;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
  /** Called when a request has waited for a second, and again after ten (`warn`); undefined if nobody would read it. */
  readonly onLongWait?: ((level: "info" | "warn", notice: WaitNotice) => void) | undefined;
}

// A 429 without a time pauses its budget for as long as a first back-off may last.
const unnamedPauseMs = 1_000;

const [longWaitMs, tooLongWaitMs] = [1_000, 10_000];
const idle = { idle: true };

/** What a waiting request lacks, for notices. */
const noticeOf = (admission: Admission): WaitNotice => {
  const { scope, queue } = admission;
  const { id: operation } = scope.operation;
  const blockers = queue.group.blockers(admission);
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
 * Sends requests only as fast as the limits allow, and pauses a budget when the service asks for it. A request waits
 * until every budget that it spends has room and the client has a free slot.
 */
export const rateLimit = (settings: RateLimitSettings): Stage => {
  const { limiter, slots, clock } = settings;
  const routes = new Map<string, AdmissionQueue>();

  const routeOf = ({ operation, plan }: Scope): AdmissionQueue => {
    const { budgets, stopsAlone = false } = operation;
    const { priority } = plan;
    const key = `${priority} ${stopsAlone} ${budgets.join()}`;
    const route = routes.get(key) ?? limiter.route(budgets, priority, slots, stopsAlone);
    routes.set(key, route);
    return route;
  };

  // Again when the reason changes, for example from a slot to a limit.
  const onStopped = (admission: Admission): void => {
    const notice = noticeOf(admission);
    if (notice.reason === admission.reason && notice.waitingFor === admission.waitingFor) return;
    admission.reason = notice.reason;
    admission.waitingFor = notice.waitingFor;
    settings.onWait?.(notice);
    admission.scope.plan.onWait?.(notice.reason === "pause" ? "retry-after" : notice.waitingFor);
  };
  const linkToSignal = (admission: Admission): Cancel =>
    whenAborted(admission.signal, () => admission.queue.group.refuse(admission, admission.signal?.reason));

  /** Tells of a long wait; a timer for each request that waits, but only with a logger. */
  const watchWait = (admission: Admission): Cancel | undefined => {
    const { onLongWait } = settings;
    if (onLongWait === undefined) return undefined;
    let cancel = clock.after(
      longWaitMs,
      () => {
        onLongWait("info", noticeOf(admission));
        cancel = clock.after(tooLongWaitMs - longWaitMs, () => onLongWait("warn", noticeOf(admission)), idle);
      },
      idle,
    );
    return () => cancel();
  };

  const startTimer = (admission: Admission): Cancel | undefined => {
    const { waits } = admission.scope;
    const refuse = (): void =>
      admission.queue.group.refuse(admission, admission.refusedWait("it has waited for maxWaitMs"));
    return waits?.waitLeftMs === undefined ? undefined : clock.after(waits.waitLeftMs, refuse);
  };

  const applyPause = ({ scope, queue }: Admission, { status, headers }: HttpResponse): void => {
    const ms = retryAfterMs(headers, clock.wallTime());
    const by = `${status} on ${scope.operation.id}`;
    if (status === 429) queue.kind.refused(scope.plan.weight);
    const pauseMs = ms ?? (status === 429 ? unnamedPauseMs : undefined);
    if (pauseMs !== undefined) queue.kind.stoppedFor(pauseMs).applyPause(pauseMs, by);
  };

  const sendAdmitted = async (admission: Admission): Promise<HttpResponse> => {
    const { scope, request, send } = admission.asked;
    const since = clock.now();
    let roundTripMs: number | undefined;
    let wasSent = true;
    try {
      const response = await send(scope, request);
      roundTripMs = clock.now() - since;
      if (response.status === 429 || response.status === 503) applyPause(admission, response);
      return response;
    } catch (failure) {
      // Only the transport can say that nothing was sent; any other failure happened before it.
      wasSent = failure instanceof AttemptFailure && failure.wasSent;
      throw failure;
    } finally {
      admission.end({ roundTripMs, wasSent });
      // After all permits are returned: in between, its permits would count twice, or not at all.
      admission.queue.group.pump();
    }
  };

  const waitSettings = { ...settings, onStopped };

  // Neither an async function nor a closure for each: 100,000 calls may wait here.
  const beginWait = (admission: Admission): Promise<HttpResponse> =>
    new Promise<Admission>(function waitInQueue(resolve, reject) {
      const cancels = [linkToSignal(admission), startTimer(admission), watchWait(admission)];
      admission.wait({ resolve, reject, cancels });
      onStopped(admission);
      // Sent after its own wait, and not by the call that admits it, because that has another async context.
    }).then(sendAdmitted);

  return function rateLimit(scope, request, send) {
    const admission = new Admission({ scope, request, send }, routeOf(scope), waitSettings);
    request.admission = admission;
    try {
      return admission.queue.group.enter(admission) ? sendAdmitted(admission) : beginWait(admission);
    } catch (refusal) {
      return Promise.reject(refusal);
    }
  };
};
