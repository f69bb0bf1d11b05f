import type { RateLimitError } from "../errors.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Scope } from "../http/scope.ts";
import { BatchTooLarge, type Send } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import { DeadlineExceeded } from "../runtime/cancellation.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { Budget } from "./budget.ts";
import type { KnownWait } from "./kind.ts";
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
  /** What else could end it, or tell of it. */
  readonly cancels: readonly (Cancel | undefined)[];
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
    for (const cancel of wait.cancels) cancel?.();
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
