import type { HttpRequest } from "../http/message.ts";
import type { Scope } from "../http/scope.ts";
import type { Send } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import type { SharingRequest } from "../options/shared-limits.ts";
import { DeadlineExceeded, Link } from "../runtime/cancellation.ts";
import type { Cancel } from "../runtime/clock.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { Ending, Kind } from "./kind.ts";
import {
  isDue,
  lacksOf,
  limitOf,
  type Resource,
  refusal,
  refusalOfWait,
  type WaitBounds,
} from "./verdict.ts";

/** How a wait ends. */
interface Wait {
  readonly resolve: (admission: Admission) => void;
  readonly reject: (reason: unknown) => void;
  /** What else could end it, or tell of it. */
  readonly cancels: readonly (Cancel | undefined)[];
  /** Called while it is the first in its queue, whenever what it waits for may have changed. */
  readonly onStopped: (admission: Admission) => void;
}

/** An attempt that asks to be sent. */
interface Asked {
  readonly scope: Scope;
  readonly request: HttpRequest;
  readonly send: Send;
}

/** One attempt and the budgets that it spends. */
export class Admission implements SharingRequest {
  readonly asked: Asked;
  readonly scope: Scope;
  readonly queue: AdmissionQueue;
  readonly bounds: WaitBounds;
  readonly since: number;
  /** Its position among all waiting requests. */
  order = 0;
  /** Its place in the queue. */
  link: Link<Admission | undefined> | undefined;
  hasGone = false;
  #wait: Wait | undefined;
  /** The last reported reason of its wait. */
  waitingFor: string | undefined;
  reason: WaitNotice["reason"] | undefined;

  constructor(asked: Asked, queue: AdmissionQueue, bounds: WaitBounds) {
    this.asked = asked;
    this.scope = asked.scope;
    this.queue = queue;
    this.bounds = bounds;
    this.since = bounds.clock.now();
  }

  get weight(): number {
    return this.scope.plan.weight;
  }

  get attemptTimeoutMs(): number {
    return this.asked.request.attemptTimeoutMs;
  }

  get leastReserve(): number {
    return this.bounds.interactiveReserve;
  }

  /** Whether it waits, and nothing has ended the wait yet. */
  get isWaiting(): boolean {
    return this.#wait !== undefined;
  }

  /** Whether a pause has started since it was admitted. */
  get isHeld(): boolean {
    return this.queue.kind.isPaused;
  }

  /** Why it may neither wait nor go; undefined if it may. */
  refusal(): unknown {
    const { signal, plan } = this.scope;
    if (signal?.aborted) return signal.reason;
    return (plan.isDrained ? undefined : this.queue.slots.closing) ?? refusal(this);
  }

  /** Starts to wait: `go` or `refuse` ends it. */
  wait(how: Wait): void {
    this.#wait = how;
    how.onStopped(this);
  }

  stopped(): void {
    this.#wait?.onStopped(this);
  }

  go(): void {
    this.hasGone = true;
    this.#endWait()?.resolve(this);
  }

  /** Ends its wait with a refusal. */
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
    const waitedMs = this.bounds.clock.now() - this.since;
    waits?.spend(waitedMs);
    account.waited(waitedMs);
    plan.onWait?.(undefined);
    return wait;
  }

  /** The attempt has ended. */
  end(how: Ending): void {
    const { kind, slots, group } = this.queue;
    group.count(kind, "inFlight", -1);
    kind.settle(this, how);
    slots.free();
    // After all permits are returned: in between, its permits would count twice, or not at all.
    group.pump();
  }
}

/** Requests of one kind that need a slot of the same client, first come first served. */
export class AdmissionQueue {
  readonly kind: Kind;
  readonly slots: ConcurrencyLimit;
  readonly #waiting = new Link<Admission | undefined>(undefined);
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

  get first(): Admission | undefined {
    return this.#waiting.next.value;
  }

  /** The waiting requests, in their order. */
  *requests(): Iterable<Admission> {
    for (let at = this.#waiting.next; at.value !== undefined; at = at.next) yield at.value;
  }

  push(admission: Admission): void {
    admission.link = new Link<Admission | undefined>(admission, this.#waiting);
    this.#count(1, admission.weight);
  }

  remove(admission: Admission): void {
    admission.link?.remove();
    this.#count(-1, admission.weight);
  }

  #count(sign: 1 | -1, weight: number): void {
    const { kind, slots } = this;
    this.group.count(kind, "waiting", sign);
    slots.waiting[kind.priority] += sign;
    slots.track(this, this.first !== undefined);
    for (const budget of kind.budgets) {
      budget.waiting[kind.priority] += sign;
      if (budget.waiters === 0) budget.rest();
    }
    kind.narrowest.queued[kind.priority] += sign * kind.amountOf(kind.narrowest, weight);
  }

  pump(): void {
    this.group.pump();
  }

  /** Refuses the waiting requests that are not drained, and returns how many there were. */
  refuseWaiting(reason: unknown): number {
    const refused = [...this.requests()].filter(({ scope }) => !scope.plan.isDrained);
    for (const admission of refused) {
      this.group.leave(admission);
      admission.refuse(reason);
    }
    // The remaining requests may be able to go.
    if (refused.length > 0) this.group.pump();
    return refused.length;
  }
}

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
  /** The group that it has joined; not private, because the other may be of another copy of the package. */
  into: QueueGroup | undefined;
  #order = 0;

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

  /** A request of the kind waits or is in flight, or no longer does. */
  count(kind: Kind, what: "waiting" | "inFlight", change: 1 | -1): void {
    const wasActive = kind.isActive;
    kind[what] += change;
    if (kind.budgets.length < 2 || wasActive === kind.isActive) return;
    this.active = wasActive ? this.active.filter((other) => other !== kind) : [...this.active, kind];
  }

  /**
   * Admits the request if possible; otherwise its wait starts, and it is called when it may go or is refused.
   *
   * @returns whether it has gone.
   * @throws the reason why the request may not wait; nothing was spent.
   */
  enter(admission: Admission): boolean {
    const { queue, weight } = admission;
    const { kind } = queue;
    const refused = admission.refusal();
    if (refused !== undefined) throw refused;
    kind.weight = weight;
    if (kind.priority === "interactive") for (const budget of kind.budgets) budget.sawInteractive();
    if (kind.gate === undefined && this.busy.size === 0 && lacksOf(admission, this.active).length === 0)
      this.#take(admission);
    else {
      const wait = kind.knownWait(weight);
      admission.order = this.#order++;
      queue.push(admission);
      this.busy.add(queue);
      // Behind others of its queue, it changes nothing for the first requests.
      if (queue.first === admission) this.pump();
      if (admission.hasGone) return true;
      const reason = refusalOfWait(admission, wait);
      if (reason === undefined) return false;
      this.leave(admission);
      throw reason;
    }
    admission.go();
    return true;
  }

  /** Admits every request that can go. Called whenever something may have become free. */
  pump(): void {
    while (this.busy.size > 0 && this.#serve());
    for (const { first } of [...this.busy]) first?.stopped();
  }

  /** Admits one request, or refuses it; false if there is none. */
  #serve(): boolean {
    const blocked = new Set<Resource>();
    for (const admission of this.#heads()) {
      const { kind, slots } = admission.queue;
      if (blocked.has(slots) || kind.budgets.some((budget) => blocked.has(budget))) continue;
      // Of requests that end together, none may go because another one has left.
      const refused = admission.refusal();
      if (refused !== undefined) {
        this.leave(admission);
        admission.refuse(refused);
        return true;
      }
      const lacks = lacksOf(admission, this.active);
      if (lacks.length === 0) {
        // Permits first: a request that leaves without them gives up what shared limits granted it.
        this.#take(admission);
        this.leave(admission);
        admission.go();
        return true;
      }
      for (const { of, isForAll, until } of lacks) {
        if (isForAll) blocked.add(of);
        if (until !== undefined && "wakeAt" in of) of.wakeAt(until);
      }
    }
    return false;
  }

  /** The first request of each queue, in the order in which they are admitted. */
  #heads(): readonly Admission[] {
    const heads: Admission[] = [];
    for (const { first } of this.busy) if (first !== undefined) heads.push(first);
    if (heads.length < 2) return heads;
    const rank = (admission: Admission): number => {
      if (admission.queue.kind.priority === "interactive") return 1;
      return isDue(admission) ? 0 : 2;
    };
    return heads.sort((one, other) => rank(one) - rank(other) || one.order - other.order);
  }

  #take(admission: Admission): void {
    const { kind, slots } = admission.queue;
    slots.take();
    this.count(kind, "inFlight", 1);
    kind.take(admission);
  }

  /** Removes a waiting request from its queue and rejects its wait. */
  refuse(admission: Admission, reason: unknown): void {
    // Requests that were refused, or went, while the others of its signal were called.
    if (!admission.isWaiting) return;
    const wasFirst = admission.queue.first === admission;
    this.leave(admission);
    admission.refuse(reason);
    // The requests behind it may be able to go.
    if (wasFirst) this.pump();
  }

  /** Removes a request from its queue. */
  leave(admission: Admission): void {
    const { queue } = admission;
    queue.kind.gate?.drop(admission);
    queue.remove(admission);
    if (queue.first === undefined) this.busy.delete(queue);
  }
}
