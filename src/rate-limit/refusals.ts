import { ConnectionError, RateLimitError } from "../errors.ts";
import type { Sending } from "../http/types.ts";
import type { LostStore } from "../options/shared-limits.ts";
import { toHeaders } from "../runtime/headers.ts";
import type { Budget } from "./budget.ts";
import type { Admission } from "./queue.ts";

const never = Number.POSITIVE_INFINITY;

/** A duration in words. */
const inWords = (ms: number): string => {
  if (ms < 120_000) return `${Math.ceil(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.ceil(ms / 60_000)} min` : `${(Math.ceil(ms / 360_000) / 10).toFixed(1)} h`;
};

/** Creates the error of a request that was not sent because of `limit`. `waitMs` is undefined if unknown. */
const limitError = (sending: Sending, limit: string, why: string, waitMs?: number): RateLimitError =>
  sending.call.error(RateLimitError, `not sent, because ${why}`, {
    status: 429,
    headers: toHeaders({}),
    body: undefined,
    retryAfterMs: waitMs,
    limit,
  });

/** Returns why a wait of `ms` is too long, as the end of a sentence; undefined if the request may wait that long. */
const beyondBound = ({ sending, since, bounds }: Admission, ms: number): string | undefined => {
  const { waitLeftMs = never, deadlineAt = never, waitsEndAt = never } = sending.call;
  const now = bounds.clock.now();
  const leftMs = Math.min(waitLeftMs - (now - since), deadlineAt - now, waitsEndAt - now);
  // After its deadline, a call ends with a timeout error, whatever it would have waited for.
  if (ms <= leftMs || deadlineAt <= now) return undefined;
  const left = `${Math.max(0, Math.round(leftMs))} ms`;
  if (waitsEndAt - now <= leftMs) return `, but the client's deadline leaves only ${left} for waiting`;
  return `, but only ${left} are left of ${deadlineAt - now <= waitLeftMs ? "totalTimeoutMs" : "maxWaitMs"}`;
};

/** Creates the error of a request for which the day has no room. */
export const dayError = ({ sending }: Admission, { day }: Budget, spent: number): RateLimitError => {
  const waitMs = day.resetsInMs(spent);
  const why = `the limit ${day.name} is used up (${day.used} of ${day.max}); it allows more in ${inWords(waitMs)}`;
  return limitError(sending, day.name, why, waitMs);
};

/** Creates the error of a request that may not wait for an unavailable store any longer. */
export const storeError = ({ sending }: Admission, { why, cause }: LostStore): ConnectionError =>
  sending.call.error(ConnectionError, `not sent, because ${why}`, { cause });

/** Returns why a request may not wait for the pause of a budget; undefined if it may. */
export const refusalOfPause = (admission: Admission, budget: Budget): Error | undefined => {
  const { name, pausedForMs } = budget;
  const isAllowed = pausedForMs <= admission.bounds.maxRetryAfterMs;
  const beyond = isAllowed ? beyondBound(admission, pausedForMs) : ", which is longer than maxRetryAfterMs";
  if (beyond === undefined) return undefined;
  const what = `the service paused ${name} for another ${inWords(pausedForMs)}`;
  return limitError(admission.sending, name, what + beyond, pausedForMs);
};

/** Returns the least time that a request has to wait, 0 if unknown, and the budget that it waits for. */
const knownWait = ({ queue: { kind } }: Admission): { readonly ms: number; readonly budget: Budget } => {
  let wait = { ms: 0, budget: kind.narrowest };
  for (const budget of kind.budgets) {
    let amount = 0;
    // A request that waits for a narrower budget does not delay requests that need only this one.
    for (const queue of budget.queues)
      if (budget !== kind.narrowest) amount += queue.kind === kind ? queue.length : 0;
      else if (
        queue.kind.narrowest === budget &&
        (kind.priority === "background" || queue.kind.priority === "interactive")
      )
        amount += queue.amount;
    const ms = budget.knownWaitMs(amount);
    if (ms > wait.ms) wait = { ms, budget };
  }
  return wait;
};

/** Creates the error of a request that may not wait any longer. */
export const waitError = (admission: Admission, why: string): RateLimitError => {
  const { sending, queue, bounds, notice } = admission;
  const { kind, slots, lack } = queue;
  if (lack.of === slots) return limitError(sending, slots.name, `${why} (for ${slots.name})`);
  const storeMs = (kind.gate?.lacks?.until ?? 0) - bounds.clock.now();
  const waitMs = Math.max(1, knownWait(admission).ms, notice.waitMs, storeMs);
  return limitError(sending, lack.of.name, `${why} (for ${lack.of.what})`, waitMs);
};

/** Returns why a request may not start to wait; undefined if it may. */
export const refusalOfWait = (admission: Admission): Error | undefined => {
  const { sending, bounds } = admission;
  const { kind, slots } = admission.queue;
  if (kind.priority === "interactive" && !sending.plan.isDrained) {
    let waiting = 0;
    for (const queue of slots.queues) if (queue.kind.priority === "interactive") waiting += queue.length;
    if (waiting > bounds.maxQueued)
      return waitError(admission, `maxQueued (${bounds.maxQueued}) calls are already waiting`);
  }
  const { ms, budget } = knownWait(admission);
  const beyond = beyondBound(admission, ms);
  if (beyond === undefined) return undefined;
  const what = `it would wait ${inWords(ms)} for the limit ${budget.name}`;
  return limitError(sending, budget.name, what + beyond, ms);
};
