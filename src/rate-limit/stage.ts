import type { RateLimitError } from "../errors.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import type { Scope } from "../http/scope.ts";
import { AttemptFailure, BatchTooLarge, type Send, type Stage } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import { DeadlineExceeded, whenAborted } from "../runtime/cancellation.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import { retryAfterMs } from "../runtime/headers.ts";
import type { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { KnownWait } from "./kind.ts";
import type { RateLimiter } from "./limiter.ts";
import type { AdmissionQueue, Waiter } from "./queue.ts";
import { inWords, refusedByPause, refusedFor, unreachable } from "./refusals.ts";

/** How a client waits. */
export interface WaitSettings {
  /** A longer pause is not waited for. */
  readonly maxRetryAfterMs: number;
  /** The smallest share of each window that its background work leaves while there are interactive calls. */
  readonly interactiveReserve: number;
  /** How many interactive requests may wait at once. */
  readonly maxQueued: number;
  readonly clock: Clock;
  /** Called for the first request of a queue, whenever what it waits for may have changed. */
  readonly onStopped: (admission: Admission) => void;
}

/** How a wait ends. */
interface Wait {
  readonly resolve: (admission: Admission) => void;
  readonly reject: (reason: unknown) => void;
  readonly unlink: Cancel;
  readonly cancel: Cancel | undefined;
}

/** What a request without permits of this budget waits for. */
const limitOf = ({ name, lost }: Budget): string => lost?.why ?? `the limit ${name}`;

/** An attempt that asks to be sent. */
export interface Asked {
  readonly scope: Scope;
  readonly request: HttpRequest;
  readonly send: Send;
}

/** One attempt and the budgets that it spends. */
export class Admission implements Waiter {
  readonly asked: Asked;
  readonly scope: Scope;
  readonly queue: AdmissionQueue;
  order = 0;
  previous: Waiter | undefined;
  next: Waiter | undefined;
  hasGone = false;
  #wait: Wait | undefined;
  /** The last reported reason of its wait. */
  waitingFor: string | undefined;
  reason: WaitNotice["reason"] | undefined;
  readonly #since: number; // when its wait started
  readonly #settings: WaitSettings;

  constructor(asked: Asked, queue: AdmissionQueue, settings: WaitSettings) {
    this.asked = asked;
    this.scope = asked.scope;
    this.queue = queue;
    this.#settings = settings;
    this.#since = settings.clock.now();
  }

  get weight(): number {
    return this.scope.plan.weight;
  }

  get signal(): AbortSignal | undefined {
    return this.scope.signal;
  }

  get attemptTimeoutMs(): number {
    return this.asked.request.attemptTimeoutMs;
  }

  get isDrained(): boolean {
    return this.scope.plan.isDrained;
  }

  get leastReserve(): number {
    return this.#settings.interactiveReserve;
  }

  get isWaiting(): boolean {
    return this.#wait !== undefined;
  }

  /** Starts to wait: `go` or `refuse` ends it. */
  wait(how: Wait): void {
    this.#wait = how;
  }

  refuse(reason: unknown): void {
    this.#endWait()?.reject(reason instanceof DeadlineExceeded ? this.#withWhat(reason) : reason);
  }

  /** A deadline error names what it waited for. */
  #withWhat({ totalTimeoutMs }: DeadlineExceeded): DeadlineExceeded {
    const budget = this.queue.kind.budgets.find(({ name }) => name === this.waitingFor);
    return new DeadlineExceeded(totalTimeoutMs, budget ? limitOf(budget) : "a free slot (concurrency)");
  }

  #endWait(): Wait | undefined {
    const wait = this.#wait;
    this.#wait = undefined;
    if (wait === undefined) return undefined;
    wait.unlink();
    wait.cancel?.();
    const { plan, account, waits } = this.scope;
    const waitedMs = this.#settings.clock.now() - this.#since;
    waits?.spend(waitedMs);
    account.waited(waitedMs);
    plan.onWait?.(undefined);
    return wait;
  }

  stopped(): void {
    this.#settings.onStopped(this);
  }

  /** Whether a pause has started since it was admitted. */
  get isHeld(): boolean {
    return this.queue.kind.isPaused;
  }

  refusal(): Error | undefined {
    const { kind } = this.queue;
    for (const budget of kind.budgets) {
      const weight = this.#weightOf(budget);
      const { day } = budget;
      if (!day.has(weight)) {
        const waitMs = day.resetsInMs(weight);
        const what = `${day.name} is used up (${day.used} of ${day.max})`;
        return refusedFor(this.scope, day.name, {
          why: `${what}; more frees in ${inWords(waitMs)}`,
          waitMs,
        });
      }
      if (budget.lost !== undefined && budget.isGivenUp) {
        budget.seek();
        return unreachable(this.scope, budget.lost);
      }
      const waitMs = budget.pausedForMs;
      if (waitMs > this.#settings.maxRetryAfterMs)
        return refusedByPause(this.scope, budget.name, {
          why: ", which is longer than maxRetryAfterMs",
          waitMs,
        });
      if (waitMs > 0 && waitMs > this.#boundMs)
        return refusedByPause(this.scope, budget.name, { why: `: ${this.#bound}`, waitMs });
    }
    if (!this.scope.plan.isDivisible) return undefined;
    const most = kind.cutTo(this.weight, this.leastReserve);
    return most === undefined ? undefined : new BatchTooLarge(most);
  }

  refusalOfWait({ ms, budget }: KnownWait): Error | undefined {
    const { kind, slots } = this.queue;
    const { maxQueued } = this.#settings;
    if (kind.priority === "interactive" && !this.isDrained && slots.waiting.interactive > maxQueued)
      return this.refusedWait(`maxQueued (${maxQueued}) calls wait already`);
    if (ms <= this.#boundMs) return undefined;
    const why = `it would wait ${inWords(ms)} for the limit ${budget.name}: ${this.#bound}`;
    return refusedFor(this.scope, budget.name, { why, waitMs: ms });
  }

  /** The error of a request that may not wait any longer. */
  refusedWait(why: string): RateLimitError {
    const { kind, slots } = this.queue;
    const { ms, budget } = kind.knownWait(this.weight);
    const isKnown =
      kind.gate === undefined ? ms > 0 || !budget.has(kind.amountOf(budget, this.weight)) : !slots.isFull;
    if (!isKnown) return refusedFor(this.scope, slots.name, { why: `${why} (for concurrency)` });
    const waitMs = Math.max(1, ms, kind.gate?.lacks(this)?.ms ?? budget.waitMs());
    return refusedFor(this.scope, budget.name, { why: `${why} (for ${limitOf(budget)})`, waitMs });
  }

  /** How long it may still wait. */
  get #boundMs(): number {
    const { waits, deadlineAt } = this.scope;
    const now = this.#settings.clock.now();
    const waitLeftMs = (waits?.waitLeftMs ?? Number.POSITIVE_INFINITY) - (now - this.#since);
    return Math.min(waitLeftMs, deadlineAt === undefined ? Number.POSITIVE_INFINITY : deadlineAt - now);
  }

  get #bound(): string {
    const { waits, deadlineAt } = this.scope;
    const leftMs = Math.max(0, Math.round(this.#boundMs));
    const isDeadline =
      deadlineAt !== undefined && deadlineAt - this.#settings.clock.now() <= (waits?.waitLeftMs ?? Infinity);
    return `${leftMs} ms are left of ${isDeadline ? "totalTimeoutMs" : "maxWaitMs"}`;
  }

  go(): void {
    const { kind } = this.queue;
    this.hasGone = true;
    for (const [index, budget] of kind.gate === undefined ? kind.budgets.entries() : []) {
      const holding = kind.holdings[index];
      if (holding) budget.take(this.#weightOf(budget), this, holding, kind.priority);
    }
    this.#endWait()?.resolve(this);
  }

  /** The attempt has ended: `roundTripMs` after a response; `wasSent` false if it was never sent. */
  end({
    roundTripMs,
    wasSent,
  }: {
    readonly roundTripMs: number | undefined;
    readonly wasSent: boolean;
  }): void {
    const { kind, slots } = this.queue;
    this.queue.count("inFlight", -1);
    kind.gate?.settle(this, { roundTripMs, wasSent });
    for (const [index, budget] of kind.gate === undefined ? kind.budgets.entries() : []) {
      const holding = kind.holdings[index];
      const weight = this.#weightOf(budget);
      if (holding === undefined) continue;
      if (wasSent) budget.settle(weight, this, holding, roundTripMs);
      else budget.refund(weight, this, holding);
    }
    slots.free();
  }

  #weightOf(budget: Budget): number {
    return budget === this.queue.kind.narrowest ? this.weight : 1;
  }
}

export interface RateLimitSettings extends Omit<WaitSettings, "onStopped"> {
  readonly limiter: RateLimiter;
  /** The maximum of requests in flight; siblings share it. */
  readonly slots: ConcurrencyLimit;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

// A 429 without a time pauses its budget for as long as a first back-off may last.
const unnamedPauseMs = 1_000;

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
    const { budgets } = operation;
    const { priority } = plan;
    const key = `${priority} ${budgets.join()}`;
    const route = routes.get(key) ?? limiter.route(budgets, priority, slots);
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

  const startTimer = (admission: Admission): Cancel | undefined => {
    const { waits } = admission.scope;
    const refuse = (): void =>
      admission.queue.group.refuse(admission, admission.refusedWait("it has waited for maxWaitMs"));
    return waits?.waitLeftMs === undefined ? undefined : clock.after(waits.waitLeftMs, refuse);
  };

  const applyPause = ({ scope, queue }: Admission, { status, headers }: HttpResponse): void => {
    const ms = retryAfterMs(headers, clock.wallTime());
    const by = `${status} on ${scope.operation.id}`;
    const { narrowest } = queue.kind;
    if (status === 429) queue.kind.refused(scope.plan.weight);
    if (status === 429) narrowest.applyPause(ms ?? unnamedPauseMs, by);
    if (status === 503 && ms !== undefined) narrowest.applyPause(ms, by);
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
      admission.wait({ resolve, reject, unlink: linkToSignal(admission), cancel: startTimer(admission) });
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
