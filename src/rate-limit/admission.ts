import { ConnectionError, RateLimitError } from "../errors.ts";
import { BatchTooLarge, type HttpRequest, type HttpResponse, progressOf } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import type { DayCount } from "../options/shared-limits.ts";
import { DeadlineExceeded } from "../runtime/cancellation.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { Budget } from "./budget.ts";
import type { KnownWait } from "./kind.ts";
import type { AdmissionQueue, Waiter } from "./queue.ts";

/** What requests with the same budgets and priority have in common, made once. */
export interface Route {
  readonly queue: AdmissionQueue;
  /** In the order of the kind's budgets. */
  readonly days: readonly DayCount[];
}

/** How a client waits. */
export interface WaitSettings {
  /** A pause that lasts longer is not waited for. */
  readonly maxRetryAfterMs: number;
  /** The least share of each window that its background work leaves while interactive calls are about. */
  readonly interactiveReserve: number;
  /** Interactive requests that may wait at once. */
  readonly maxQueued: number;
  readonly clock: Clock;
  /** Told of a waiting request that stands first, whenever what it waits for may have changed. */
  readonly onStopped: (admission: Admission) => void;
  /** Sends a request that has waited and may go. */
  readonly send: (admission: Admission) => Promise<HttpResponse>;
}

const inWords = (ms: number): string => {
  if (ms < 120_000) return `${Math.ceil(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.ceil(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
};

/** How a wait ends. */
interface Wait {
  readonly resolve: (response: Promise<HttpResponse>) => void;
  readonly reject: (reason: unknown) => void;
  readonly unlink: Cancel;
  readonly cancel: Cancel | undefined;
}

/** One attempt on its way through the budgets: what it spends, and why it may not. */
export class Admission implements Waiter {
  readonly request: HttpRequest;
  readonly queue: AdmissionQueue;
  order = 0;
  previous: Waiter | undefined;
  next: Waiter | undefined;
  hasGone = false;
  #wait: Wait | undefined;
  /** What the user was told last that it waits for, and why. */
  waitingFor: string | undefined;
  reason: WaitNotice["reason"] | undefined;
  /** Since when it waits. */
  readonly #since: number;
  readonly #days: readonly DayCount[];
  readonly #settings: WaitSettings;

  constructor(request: HttpRequest, { queue, days }: Route, settings: WaitSettings) {
    this.request = request;
    this.queue = queue;
    this.#days = days;
    this.#settings = settings;
    this.#since = settings.clock.now();
  }

  get weight(): number {
    return this.request.weight;
  }

  get signal(): AbortSignal | undefined {
    return this.request.signal;
  }

  get isDrained(): boolean {
    return this.request.isDrained === true;
  }

  get leastReserve(): number {
    return this.#settings.interactiveReserve;
  }

  get isWaiting(): boolean {
    return this.#wait !== undefined;
  }

  /** Begins to wait: `go` or `refuse` ends it. */
  wait(how: Wait): void {
    this.#wait = how;
  }

  refuse(reason: unknown): void {
    this.#endWait()?.reject(reason instanceof DeadlineExceeded ? this.#withWhat(reason) : reason);
  }

  /** A deadline is told what it waited for. */
  #withWhat({ totalTimeoutMs }: DeadlineExceeded): DeadlineExceeded {
    const { slots } = this.queue;
    const isSlot = this.waitingFor === slots.name;
    const what = isSlot ? "a free slot (concurrency)" : `the limit ${this.waitingFor}`;
    return new DeadlineExceeded(totalTimeoutMs, what);
  }

  #endWait(): Wait | undefined {
    const wait = this.#wait;
    if (wait === undefined) return undefined;
    this.#wait = undefined;
    wait.unlink();
    wait.cancel?.();
    const { onWait, stats, waits } = this.request;
    const waitedMs = this.#settings.clock.now() - this.#since;
    if (waits !== undefined) waits.leftMs -= waitedMs;
    stats.waitedMs += waitedMs;
    onWait?.(undefined);
    return wait;
  }

  stopped(): void {
    this.#settings.onStopped(this);
  }

  /** Whether a pause has begun since it was let go. */
  get isHeld(): boolean {
    return this.queue.kind.budgets.some((budget) => budget.pausedForMs > 0);
  }

  refusal(): Error | undefined {
    const { kind } = this.queue;
    for (const [index, budget] of kind.budgets.entries()) {
      const weight = this.#weightOf(budget);
      const day = this.#days[index];
      if (day !== undefined && !day.has(weight)) {
        const waitMs = day.freesInMs(weight);
        const what = `${day.name} is used up (${day.used} of ${day.max})`;
        return this.refused(day.name, `${what}; more frees in ${inWords(waitMs)}`, waitMs);
      }
      if (budget.isLost) {
        budget.seek();
        return this.#unreachable();
      }
      const waitMs = budget.pausedForMs;
      const what = `the service asked to send nothing on ${budget.name} for another ${inWords(waitMs)}`;
      if (waitMs > this.#settings.maxRetryAfterMs)
        return this.refused(budget.name, `${what}, which is longer than maxRetryAfterMs`, waitMs);
      if (waitMs > 0 && waitMs > this.#boundMs)
        return this.refused(budget.name, `${what}: ${this.#bound}`, waitMs);
    }
    if (kind.priority !== "background" || !this.request.isDivisible) return undefined;
    const { narrowest } = kind;
    const most = narrowest.cutTo(narrowest.amountOf(this.weight), this.leastReserve);
    return most === undefined ? undefined : new BatchTooLarge(most);
  }

  refusalOfWait({ ms, budget }: KnownWait): Error | undefined {
    const { kind, slots } = this.queue;
    const { maxQueued } = this.#settings;
    if (kind.priority === "interactive" && !this.isDrained && slots.waiting.interactive > maxQueued)
      return this.refusedWait(`maxQueued (${maxQueued}) calls wait already`);
    if (ms <= this.#boundMs) return undefined;
    return this.refused(
      budget.name,
      `it would wait ${inWords(ms)} for the limit ${budget.name}: ${this.#bound}`,
      ms,
    );
  }

  /** The error of a request that shall not wait any longer. */
  refusedWait(why: string): RateLimitError {
    const { kind, slots } = this.queue;
    const { ms, budget } = kind.knownWait(this.weight);
    const isKnown = ms > 0 || !budget.has(kind.amountOf(budget, this.weight));
    if (!isKnown) return this.refused(slots.name, `${why} (for concurrency)`, undefined);
    return this.refused(
      budget.name,
      `${why} (for the limit ${budget.name})`,
      Math.max(1, ms, budget.waitMs()),
    );
  }

  /** How long it may still wait. */
  get #boundMs(): number {
    const { waits, deadlineAt } = this.request;
    const now = this.#settings.clock.now();
    const waitLeftMs = waits === undefined ? Number.POSITIVE_INFINITY : waits.leftMs - (now - this.#since);
    return Math.min(waitLeftMs, deadlineAt === undefined ? Number.POSITIVE_INFINITY : deadlineAt - now);
  }

  get #bound(): string {
    const { waits, deadlineAt } = this.request;
    const leftMs = Math.max(0, Math.round(this.#boundMs));
    const isDeadline =
      deadlineAt !== undefined && deadlineAt - this.#settings.clock.now() <= (waits?.leftMs ?? Infinity);
    return `${leftMs} ms are left of ${isDeadline ? "totalTimeoutMs" : "maxWaitMs"}`;
  }

  go(): void {
    const { kind } = this.queue;
    this.hasGone = true;
    for (const [index, budget] of kind.budgets.entries()) {
      const holding = kind.holdings[index];
      if (holding) budget.take(budget.amountOf(this.#weightOf(budget)), this, holding, kind.priority);
      this.#days[index]?.add(this.#weightOf(budget));
    }
    const wait = this.#endWait();
    // Not here: whoever lets it go has others to look at first.
    if (wait !== undefined) queueMicrotask(() => wait.resolve(this.#settings.send(this)));
  }

  /** The attempt has ended: `roundTripMs` after an answer; `wasSent` false when it never left. */
  end({
    roundTripMs,
    wasSent,
  }: {
    readonly roundTripMs: number | undefined;
    readonly wasSent: boolean;
  }): void {
    const { kind, slots } = this.queue;
    kind.inFlight -= 1;
    for (const [index, budget] of kind.budgets.entries()) {
      const holding = kind.holdings[index];
      const weight = this.#weightOf(budget);
      if (holding === undefined) continue;
      if (wasSent) budget.settle(weight, this, holding, roundTripMs);
      else budget.refund(budget.amountOf(weight), this, holding);
      if (!wasSent) this.#days[index]?.add(-weight);
    }
    slots.free();
  }

  #weightOf(budget: Budget): number {
    return budget === this.queue.kind.narrowest ? this.request.weight : 1;
  }

  #unreachable(): ConnectionError {
    const { operation } = this.request;
    const why = "the store of the shared limits is out of reach";
    return new ConnectionError(`${operation}: not sent, ${why}: see to Redis, or allow onLost: "open"`, {
      ...progressOf(this.request),
    });
  }

  /** The error of a request that was not sent for want of `limit`. */
  refused(limit: string, why: string, retryAfterMs: number | undefined): RateLimitError {
    return new RateLimitError(`${this.request.operation}: not sent, ${why}`, {
      ...progressOf(this.request),
      status: 429,
      headers: new Headers(),
      body: undefined,
      retryAfterMs,
      limit,
    });
  }
}
