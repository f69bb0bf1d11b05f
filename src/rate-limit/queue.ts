import type { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import { type Kind, type KnownWait, keptForShares } from "./kind.ts";

/** A request that waits, or may have to. */
export interface Waiter {
  readonly queue: AdmissionQueue;
  readonly weight: number;
  /** Aborts its wait. */
  readonly signal: AbortSignal | undefined;
  /** The smallest share of each window that it leaves for interactive calls, if it is background work. */
  readonly leastReserve: number;
  /** How long its attempt may take. */
  readonly attemptTimeoutMs: number;
  /** Whether it is allowed while its client closes. */
  readonly isDrained: boolean;
  /** Its position among all waiting requests. */
  order: number;
  previous: Waiter | undefined;
  next: Waiter | undefined;
  readonly hasGone: boolean;
  /** Whether it waits, and nothing has ended the wait yet. */
  readonly isWaiting: boolean;
  /** Called while it is the first in its queue, whenever what it waits for may have changed. */
  stopped(): void;
  /** Why it may neither wait nor go; undefined if it may. */
  refusal(): Error | undefined;
  /** Why it may not start to wait, if it has to wait at least that long. */
  refusalOfWait(wait: KnownWait): Error | undefined;
  /** Takes the permits that it spends, and goes. */
  go(): void;
  /** Ends its wait with a refusal. */
  refuse(reason: unknown): void;
}

/** Requests of one kind that need a slot of the same client, first come first served. */
export class AdmissionQueue {
  readonly kind: Kind;
  readonly slots: ConcurrencyLimit;
  #first: Waiter | undefined;
  #last: Waiter | undefined;

  #group: QueueGroup;

  constructor(kind: Kind, slots: ConcurrencyLimit, group: QueueGroup) {
    this.kind = kind;
    this.slots = slots;
    this.#group = group;
  }

  get group(): QueueGroup {
    this.#group = this.#group.last;
    return this.#group;
  }

  /** Counts a request that waits or is in flight, or no longer does. Shares are kept for kinds that have any. */
  count(what: "waiting" | "inFlight", change: 1 | -1): void {
    const { kind } = this;
    const wasActive = kind.isActive;
    kind[what] += change;
    if (kind.budgets.length > 1 && wasActive !== kind.isActive) this.group.activate(kind);
  }

  get first(): Waiter | undefined {
    return this.#first;
  }

  push(waiter: Waiter): void {
    waiter.previous = this.#last;
    if (this.#last === undefined) {
      this.#first = waiter;
      this.slots.track(this, true);
    } else this.#last.next = waiter;
    this.#last = waiter;
    this.#count(1, waiter.weight);
  }

  remove(waiter: Waiter): void {
    const { previous, next } = waiter;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    waiter.previous = undefined;
    waiter.next = undefined;
    this.#count(-1, waiter.weight);
    if (this.#first === undefined) this.slots.track(this, false);
  }

  refuseWaiting(reason: unknown): number {
    let count = 0;
    for (let waiter = this.#first; waiter !== undefined; ) {
      const { next } = waiter;
      if (!waiter.isDrained) {
        this.group.leave(waiter);
        waiter.refuse(reason);
        count += 1;
      }
      waiter = next;
    }
    // The remaining requests may be able to go.
    if (count > 0) this.group.pump();
    return count;
  }

  #count(sign: 1 | -1, weight: number): void {
    const { kind, slots } = this;
    this.count("waiting", sign);
    slots.waiting[kind.priority] += sign;
    for (const budget of kind.budgets) {
      budget.waiting[kind.priority] += sign;
      if (budget.waiters === 0) budget.rest();
    }
    kind.narrowest.queued[kind.priority] += sign * kind.amountOf(kind.narrowest, weight);
  }
}

type Resource = Budget | ConcurrencyLimit;

/**
 * Admits requests: interactive ones before background ones, in order of arrival within each.
 *
 * A request takes all it spends at once, or nothing: none holds one budget while it waits for another. A request that
 * lacks one budget does not delay requests that do not need it.
 */
export class QueueGroup {
  /** The queues in which requests wait. */
  readonly busy = new Set<AdmissionQueue>();
  /** The kinds with more than one budget whose requests wait or are in flight: shares are kept for them. */
  active: readonly Kind[] = [];
  /** The group that it has joined. */
  into: QueueGroup | undefined;
  readonly #wake = (): void => this.last.pump();
  #order = 0;
  #isPumping = false;

  /** The group that serves the queues of this one. */
  get last(): QueueGroup {
    return this.into?.last ?? this;
  }

  /** From now on, the queues of both are served together, because some requests spend budgets of both. */
  join(other: QueueGroup): void {
    if (other === this) return;
    other.into = this;
    for (const queue of other.busy) this.busy.add(queue);
    this.active = [...this.active, ...other.active];
  }

  /** A kind has become active, or is no longer. */
  activate(kind: Kind): void {
    this.active = kind.isActive ? [...this.active, kind] : this.active.filter((other) => other !== kind);
  }

  /**
   * Admits the request if possible; otherwise its wait starts, and it is called when it may go or is refused.
   *
   * @returns whether it has gone.
   * @throws the reason why the request may not wait; nothing was spent.
   */
  enter(waiter: Waiter): boolean {
    // First, because a lack that is found sets a timer, which would then stay.
    waiter.signal?.throwIfAborted();
    const { kind } = waiter.queue;
    const { closing } = waiter.queue.slots;
    const refusal = closing !== undefined && !waiter.isDrained ? closing : waiter.refusal();
    if (refusal !== undefined) throw refusal;
    kind.weight = waiter.weight;
    if (kind.priority === "interactive") for (const budget of kind.budgets) budget.sawInteractive();
    if (kind.gate === undefined && this.busy.size === 0 && this.#lacking(waiter).length === 0) {
      this.#admit(waiter);
      return true;
    }
    return this.#wait(waiter);
  }

  /** What keeps the request from going now; for notices. */
  blockers(waiter: Waiter): readonly Resource[] {
    const { queue, weight } = waiter;
    const { kind, slots } = queue;
    if (kind.gate !== undefined) {
      const { name } = kind.gate.lacks(waiter) ?? kind.narrowest;
      return slots.isFull ? [slots] : kind.budgets.filter((budget) => budget.name === name);
    }
    const lacking = kind.budgets.filter((budget) => !budget.has(kind.amountOf(budget, weight)));
    return slots.isFull ? [slots, ...lacking] : lacking;
  }

  /** Admits every request that can go. Called whenever something may have become free. */
  pump(): void {
    // A budget that changes while it is taken from must not start a second round inside the first.
    if (this.#isPumping || this.busy.size === 0) return;
    this.#isPumping = true;
    try {
      while (this.#serve());
    } finally {
      this.#isPumping = false;
    }
    for (const { first } of [...this.busy]) if (first?.isWaiting) first.stopped();
  }

  /** Admits one request, or refuses it; false if there is none. */
  #serve(): boolean {
    const blocked = new Set<Resource>();
    for (const waiter of this.#heads()) {
      const { kind, slots } = waiter.queue;
      if (blocked.has(slots) || kind.budgets.some((budget) => blocked.has(budget))) continue;
      // Of requests that end together, none may go because another one has left.
      const { signal } = waiter;
      const refusal: unknown = signal?.aborted
        ? signal.reason
        : ((waiter.isDrained ? undefined : slots.closing) ?? waiter.refusal());
      if (refusal !== undefined) {
        this.leave(waiter);
        waiter.refuse(refusal);
        return true;
      }
      const lacking = this.#lacking(waiter, blocked);
      if (lacking.length === 0) {
        kind.gate?.take(waiter);
        this.leave(waiter);
        this.#admit(waiter);
        return true;
      }
      for (const resource of lacking) if (resource === slots) slots.want(this.#wake);
    }
    return false;
  }

  /** The first request of each queue, in the order in which they are admitted. */
  #heads(): readonly Waiter[] {
    const heads: Waiter[] = [];
    for (const { first } of this.busy) if (first !== undefined) heads.push(first);
    if (heads.length < 2) return heads;
    const rank = (waiter: Waiter): number => {
      const { kind } = waiter.queue;
      if (kind.priority === "interactive") return 1;
      return isDue(waiter) ? 0 : 2;
    };
    return heads.sort((one, other) => rank(one) - rank(other) || one.order - other.order);
  }

  /** What the request lacks. Adds those resources to `blocked` that later requests must not take either. */
  #lacking(waiter: Waiter, blocked?: Set<Resource>): readonly Resource[] {
    const { queue, weight, leastReserve } = waiter;
    const { kind, slots } = queue;
    const lacking: Resource[] = [];
    if (slots.isFull) {
      lacking.push(slots);
      blocked?.add(slots);
    }
    if (kind.gate !== undefined) {
      if (lacking.length === 0 && !kind.gate.admits(waiter)) lacking.push(kind.narrowest);
      return lacking;
    }
    const hasReserve = kind.priority === "background" && !isDue(waiter);
    for (const budget of kind.budgets) {
      const amount = kind.amountOf(budget, weight);
      const reserve = hasReserve ? budget.keptFromBackground(amount, leastReserve) : 0;
      const shares = keptForShares(kind, budget, this.active);
      if (budget.has(amount, reserve + shares) || budget.want(amount, reserve + shares)) continue;
      lacking.push(budget);
      // A request that is delayed only by the share of others must not delay those others.
      if (shares === 0 || !budget.has(amount, reserve)) blocked?.add(budget);
    }
    return lacking;
  }

  #admit(waiter: Waiter): void {
    waiter.queue.slots.take();
    waiter.queue.count("inFlight", 1);
    waiter.go();
  }

  #wait(waiter: Waiter): boolean {
    const { queue } = waiter;
    waiter.order = this.#order++;
    const wait = queue.kind.knownWait(waiter.weight);
    queue.push(waiter);
    this.busy.add(queue);
    // Behind others of its queue, it changes nothing for the first requests.
    if (queue.first === waiter) this.pump();
    if (waiter.hasGone) return true;
    const refusal = waiter.refusalOfWait(wait);
    if (refusal === undefined) return false;
    this.leave(waiter);
    throw refusal;
  }

  /** Removes a waiting request from its queue and rejects its wait. */
  refuse(waiter: Waiter, reason: unknown): void {
    // Requests that were refused, or went, while the others of its signal were called.
    if (!waiter.isWaiting) return;
    const wasFirst = waiter.queue.first === waiter;
    this.leave(waiter);
    waiter.refuse(reason);
    // The requests behind it may be able to go.
    if (wasFirst) this.pump();
  }

  /** Removes a request from its queue. */
  leave(waiter: Waiter): void {
    const { queue } = waiter;
    queue.kind.gate?.drop(waiter);
    queue.remove(waiter);
    if (queue.first === undefined) this.busy.delete(queue);
  }
}

/**
 * Whether a background request goes before interactive ones: in each of its budgets, background had less than its
 * tenth.
 */
const isDue = ({ queue, weight }: Waiter): boolean =>
  queue.kind.budgets.every((budget) => budget.isBackgroundDue(queue.kind.amountOf(budget, weight)));
