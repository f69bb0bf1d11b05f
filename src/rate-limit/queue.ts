import type { DayCount } from "../options/shared-limits.ts";
import type { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import { type Kind, type KnownWait, keptForShares } from "./kind.ts";

/** What requests with the same budgets and priority have in common, made once. */
export interface Route {
  readonly queue: AdmissionQueue;
  /** In the order of the kind's budgets. */
  readonly days: readonly DayCount[];
}

/** A request that waits, or is about to. */
export interface Waiter {
  readonly queue: AdmissionQueue;
  readonly weight: number;
  /** Aborts its wait. */
  readonly signal: AbortSignal | undefined;
  /** The least share of each window that it leaves for interactive calls, if it is background work. */
  readonly leastReserve: number;
  /** Whether it is let through while its client closes. */
  readonly isDrained: boolean;
  /** Its place among all that wait. */
  order: number;
  previous: Waiter | undefined;
  next: Waiter | undefined;
  readonly hasGone: boolean;
  /** Whether it waits, and nobody has ended that yet. */
  readonly isWaiting: boolean;
  /** Told while it waits and stands first, whenever what it waits for may have changed. */
  stopped(): void;
  /** Why it shall neither wait nor go; undefined when it may. */
  refusal(): Error | undefined;
  /** Why it shall not begin to wait, where it has to wait that long at least. */
  refusalOfWait(wait: KnownWait): Error | undefined;
  /** Takes what it spends, and goes. */
  go(): void;
  /** Ends its wait: it shall not go. */
  refuse(reason: unknown): void;
}

/** Requests of one kind that need a slot of the same client, first come first served. */
export class AdmissionQueue {
  readonly kind: Kind;
  readonly slots: ConcurrencyLimit;
  readonly #group: QueueGroup;
  #first: Waiter | undefined;
  #last: Waiter | undefined;

  constructor(kind: Kind, slots: ConcurrencyLimit, group: QueueGroup) {
    this.kind = kind;
    this.slots = slots;
    this.#group = group;
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
        this.#group.leave(waiter);
        waiter.refuse(reason);
        count += 1;
      }
      waiter = next;
    }
    // Whoever is left may be able to go.
    if (count > 0) this.#group.pump();
    return count;
  }

  #count(sign: 1 | -1, weight: number): void {
    const { kind, slots } = this;
    kind.waiting += sign;
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
 * Lets requests go: interactive ones before background ones, and within each first come first served.
 *
 * A request takes all it spends at one moment, or nothing: none holds one budget while it waits for another. A request
 * that lacks one budget does not hold up those that don't need it.
 */
export class QueueGroup {
  readonly #busy = new Set<AdmissionQueue>();
  /** The kinds that need more than one budget: shares are kept for those that are active. */
  readonly #sharing: Kind[] = [];
  readonly #wake = (): void => this.pump();
  #order = 0;
  #isPumping = false;

  /** @param kind - is made for this group, and counts in it. */
  add(kind: Kind): Kind {
    if (kind.budgets.length > 1) this.#sharing.push(kind);
    return kind;
  }

  /**
   * Lets the request go when nothing is in its way; otherwise it is told once it may, or may not: its wait begins.
   *
   * @returns whether it has gone.
   * @throws whatever keeps the request from waiting; nothing was spent.
   */
  enter(waiter: Waiter): boolean {
    // Before anything is looked at: what is found lacking sets a timer, which nobody would cancel.
    waiter.signal?.throwIfAborted();
    const { kind } = waiter.queue;
    const { closing } = waiter.queue.slots;
    const refusal = closing !== undefined && !waiter.isDrained ? closing : waiter.refusal();
    if (refusal !== undefined) throw refusal;
    kind.weight = waiter.weight;
    if (kind.priority === "interactive") for (const budget of kind.budgets) budget.sawInteractive();
    if (this.#busy.size === 0 && this.#lacking(waiter).length === 0) {
      this.#admit(waiter);
      return true;
    }
    return this.#wait(waiter);
  }

  /** What keeps the request from going now; for telling the user. */
  blockers({ queue, weight }: Waiter): readonly Resource[] {
    const { kind, slots } = queue;
    const lacking = kind.budgets.filter((budget) => !budget.has(kind.amountOf(budget, weight)));
    return slots.isFull ? [slots, ...lacking] : lacking;
  }

  /** Lets through whoever can go. Called whenever something may have become free. */
  pump(): void {
    // A budget that changes while it is taken from must not start a second round inside the first.
    if (this.#isPumping || this.#busy.size === 0) return;
    this.#isPumping = true;
    try {
      while (this.#serve());
    } finally {
      this.#isPumping = false;
    }
    for (const { first } of [...this.#busy]) if (first?.isWaiting) first.stopped();
  }

  /** Lets one request go, or refuses it; false when there is none. */
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
        this.leave(waiter);
        this.#admit(waiter);
        return true;
      }
      for (const resource of lacking) if (resource === slots) slots.want(this.#wake);
    }
    return false;
  }

  /** The first request of each queue, in the order in which they are served. */
  #heads(): readonly Waiter[] {
    const heads: Waiter[] = [];
    for (const { first } of this.#busy) if (first !== undefined) heads.push(first);
    if (heads.length < 2) return heads;
    const rank = (waiter: Waiter): number => {
      const { kind } = waiter.queue;
      if (kind.priority === "interactive") return 1;
      return isDue(waiter) ? 0 : 2;
    };
    return heads.sort((one, other) => rank(one) - rank(other) || one.order - other.order);
  }

  /** What the request lacks; those resources that hold up whoever comes after it are added to `blocked`. */
  #lacking(waiter: Waiter, blocked?: Set<Resource>): readonly Resource[] {
    const { queue, weight, leastReserve } = waiter;
    const { kind, slots } = queue;
    const lacking: Resource[] = [];
    if (slots.isFull) {
      lacking.push(slots);
      blocked?.add(slots);
    }
    const hasReserve = kind.priority === "background" && !isDue(waiter);
    for (const budget of kind.budgets) {
      const amount = kind.amountOf(budget, weight);
      const reserve = hasReserve ? budget.keptFromBackground(amount, leastReserve) : 0;
      const shares = keptForShares(kind, budget, this.#sharing);
      if (budget.has(amount, reserve + shares) || budget.want(amount, reserve + shares)) continue;
      lacking.push(budget);
      // Whoever is held up only by what is kept for others must not hold up those others.
      if (shares === 0 || !budget.has(amount, reserve)) blocked?.add(budget);
    }
    return lacking;
  }

  #admit(waiter: Waiter): void {
    waiter.queue.slots.take();
    waiter.queue.kind.inFlight += 1;
    waiter.go();
  }

  #wait(waiter: Waiter): boolean {
    const { queue } = waiter;
    waiter.order = this.#order++;
    const wait = queue.kind.knownWait(waiter.weight);
    queue.push(waiter);
    this.#busy.add(queue);
    // Behind others of its queue it changes nothing for those that stand first.
    if (queue.first === waiter) this.pump();
    if (waiter.hasGone) return true;
    const refusal = waiter.refusalOfWait(wait);
    if (refusal === undefined) return false;
    this.leave(waiter);
    throw refusal;
  }

  /** Takes a waiting request out of its queue and rejects its wait. */
  refuse(waiter: Waiter, reason: unknown): void {
    // Whoever was refused, or went, while the others of its signal were told.
    if (!waiter.isWaiting) return;
    const wasFirst = waiter.queue.first === waiter;
    this.leave(waiter);
    waiter.refuse(reason);
    // Whoever stood behind it may be able to go.
    if (wasFirst) this.pump();
  }

  /** Takes a request out of its queue. */
  leave(waiter: Waiter): void {
    const { queue } = waiter;
    queue.remove(waiter);
    if (queue.first === undefined) this.#busy.delete(queue);
  }
}

/** Whether a background request goes before interactive ones: wherever it spends, background had less than its tenth. */
const isDue = ({ queue, weight }: Waiter): boolean =>
  queue.kind.budgets.every((budget) => budget.isBackgroundDue(queue.kind.amountOf(budget, weight)));
