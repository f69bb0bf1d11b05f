import type { HttpResponse } from "../http/message.ts";
import { AttemptFailure, type Sending, type Stage } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import { captureContext } from "../runtime/async-context.ts";
import { whenAborted } from "../runtime/cancellation.ts";
import type { Cancel } from "../runtime/clock.ts";
import { pauseMsOf } from "../runtime/headers.ts";
import { end, enter } from "./admission.ts";
import type { RateLimiter } from "./limiter.ts";
import { Admission, type AdmissionQueue, type ConcurrencyLimit, type WaitBounds } from "./queue.ts";
import { waitError } from "./refusals.ts";
import type { LimitName } from "./registry.ts";

export interface RateLimitSettings extends WaitBounds {
  readonly limiter: RateLimiter;
  /** The slots for requests in flight, which the client shares with its siblings. */
  readonly slots: ConcurrencyLimit;
  /** Called when a request has waited for 1 s (`info`), and again at 10 s (`warn`); undefined without a logger. */
  readonly onLongWait?: ((level: "info" | "warn", notice: WaitNotice) => void) | undefined;
}

const [longWaitMs, tooLongWaitMs] = [1_000, 10_000];
const idle = { idle: true };
const never = Number.POSITIVE_INFINITY;

/** Ends a wait on abort, after `maxWaitMs` or before the client's deadline, and reports a long wait. */
const watch = (admission: Admission, { clock, onLongWait }: RateLimitSettings): (Cancel | undefined)[] => {
  const { sending, queue } = admission;
  const { waitLeftMs = never, waitsEndAt = never } = sending.call;
  const deadlineMs = waitsEndAt - clock.now();
  const waitMs = Math.min(waitLeftMs, deadlineMs);
  const limit = deadlineMs < waitLeftMs ? "the client's deadline came near" : "maxWaitMs has passed";
  const unlink = whenAborted(sending.call.signal, () => queue.refuse(admission, sending.call.signal?.reason));
  const giveUp = (): void => queue.refuse(admission, waitError(admission, `${limit} while it waited`));
  const cancels = [unlink, waitMs === never ? undefined : clock.after(Math.max(0, waitMs), giveUp)];
  if (onLongWait !== undefined)
    cancels.push(
      clock.after(longWaitMs, () => onLongWait("info", admission.notice), idle),
      clock.after(tooLongWaitMs, () => onLongWait("warn", admission.notice), idle),
    );
  return cancels;
};

/** Pauses a budget for as long as the response says. */
const applyPause = ({ sending, queue: { kind } }: Admission, response: HttpResponse): void => {
  const ms = pauseMsOf(response);
  const { status } = response;
  if (status === 429) kind.refused(sending.plan.weight);
  if (ms !== undefined) kind.stoppedFor(ms).applyPause(ms, `${status} on ${sending.operation.id}`);
};

/**
 * Sends requests only as fast as the limits allow, and pauses a budget when the service asks for it. A request waits
 * until every budget that it spends has room and the client has a free slot.
 */
export const rateLimit = (settings: RateLimitSettings): Stage => {
  const { limiter, slots, clock } = settings;
  const routes = {
    interactive: new Map<LimitName, AdmissionQueue>(),
    background: new Map<LimitName, AdmissionQueue>(),
  };

  // A queue per narrowest limit is enough, because operations with the same narrowest limit spend the same limits.
  const routeOf = ({ operation: { budgets, stopsAlone }, plan: { priority } }: Sending): AdmissionQueue => {
    const name = stopsAlone ? "sending" : (budgets.at(-1) ?? "requests");
    const route = routes[priority].get(name) ?? limiter.route(name, priority, slots);
    routes[priority].set(name, route);
    return route;
  };

  const sendAdmitted = (admission: Admission, since: number): Promise<HttpResponse> => {
    const { sending, request, send } = admission;
    let sent: Promise<HttpResponse>;
    try {
      sent = send(sending, request);
    } catch (failure) {
      sent = Promise.reject(failure);
    }
    return sent.then(
      function answered(response) {
        const roundTripMs = clock.now() - since;
        try {
          if (response.status >= 400) applyPause(admission, response);
        } finally {
          end(admission, { roundTripMs, wasSent: true });
        }
        return response;
      },
      function failed(failure: unknown) {
        // Only an AttemptFailure can come from an attempt that was sent. Any other failure happened before the attempt.
        const wasSent = failure instanceof AttemptFailure && failure.wasSent;
        end(admission, { roundTripMs: undefined, wasSent });
        throw failure;
      },
    );
  };

  // Not an async function, to save memory: 100,000 calls may wait here.
  const beginWait = (admission: Admission): Promise<HttpResponse> =>
    new Promise<Admission>(function waitInQueue(resolve, reject) {
      const inContext = settings.onWait && captureContext();
      admission.wait = { resolve, reject, cancels: watch(admission, settings), inContext };
      admission.reportWait();
      // Send from this promise, not from the call that admits the request, which has another async context.
    }).then((admitted) => sendAdmitted(admitted, clock.now()));

  return function rateLimit(sending, request, send) {
    const admission = new Admission({ sending, request, send }, routeOf(sending), settings);
    request.admission = admission;
    try {
      return enter(admission) ? sendAdmitted(admission, admission.since) : beginWait(admission);
    } catch (refusal) {
      return Promise.reject(refusal);
    }
  };
};
