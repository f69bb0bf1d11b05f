import type { HttpRequest } from "../http/message.ts";
import type { Send, Sending } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import type { Priority } from "../options/priority.ts";
import type { Gate, SharingRequest } from "../options/shared-limits.ts";
import { DeadlineExceeded, Link } from "../runtime/cancellation.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { Budget } from "./budget.ts";

const never = Number.POSITIVE_INFINITY;

/** How long the requests of a client may wait, and what they leave to others. */
export interface WaitBounds {
  /** The longest pause that a request waits for. */
  readonly maxRetryAfterMs: number;
  /** The minimum share of each window that background work leaves while there are interactive calls. */
  readonly interactiveReserve: number;
  /** How many interactive requests may wait at once. */
  readonly maxQueued: number;
  readonly clock: Clock;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

/** What a request lacks. */
export interface Lack {
  readonly of: Budget | ConcurrencyLimit;
  /** Whether later requests must not take permits or slots of `of` either. */
  readonly isForAll: boolean;
  /** When to check again, unless a request ends earlier; `Infinity` if only the end of a request can help. */
  readonly until: number;
}

/** How to end a wait. */
interface Wait {
  readonly resolve: (admission: Admission) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops the timers and the abort listener of the wait. */
  readonly cancels: readonly (Cancel | undefined)[];
  /** Runs `onWait` in the async context of the call; undefined without `onWait`. */
  readonly inContext: ((callback: () => void) => void) | undefined;
}

/** One attempt that needs permits and a slot. */
export class Admission implements SharingRequest {
  readonly sending: Sending;
  readonly request: HttpRequest;
  readonly send: Send;
  readonly queue: AdmissionQueue;
  readonly bounds: WaitBounds;
  readonly weight: number;
  readonly since: number;
  /** The position among all requests that have entered a queue. */
  order = 0;
  /** The place in the queue. */
  link: Link<Admission | undefined> | undefined = undefined;
  hasGone = false;
  /** Why the request was refused, even before its wait began. */
  refused: unknown = undefined;
  /** Set while the request waits. */
  wait: Wait | undefined = undefined;
  /** The last reported notice. */
  #reported: WaitNotice | undefined;

  constructor(
    { sending, request, send }: Pick<Admission, "sending" | "request" | "send">,
    queue: AdmissionQueue,
    bounds: WaitBounds,
  ) {
    this.sending = sending;
    this.request = request;
    this.send = send;
    this.queue = queue;
    this.bounds = bounds;
    this.weight = sending.plan.weight;
    this.since = bounds.clock.now();
  }

  /** Whether an admitted request must not be sent: one of its limits has been paused, or its permits have lapsed. */
  get mustWaitAgain(): boolean {
    const { budgets, gate } = this.queue.kind;
    for (const budget of budgets) if (budget.pausedForMs > 0) return true;
    return gate?.isLapsed(this) ?? false;
  }

  /** What the request waits for. */
  get notice(): WaitNotice {
    const { of, until } = this.queue.lack;
    const waitMs = until === never ? 0 : Math.ceil(Math.max(0, until - this.bounds.clock.now()));
    return { operation: this.sending.operation.id, waitingFor: of.name, reason: of.reason, waitMs };
  }

  /** Reports what the request waits for, unless that was reported before. It may change, from a slot to a limit. */
  reportWait(): void {
    const { notice } = this;
    const { reason, waitingFor } = this.#reported ?? {};
    if (this.wait === undefined || (notice.reason === reason && notice.waitingFor === waitingFor)) return;
    this.#reported = notice;
    this.wait.inContext?.(() => this.bounds.onWait?.(notice));
    this.sending.plan.onWait?.(notice.reason === "pause" ? "retry-after" : notice.waitingFor);
  }

  go(): void {
    this.hasGone = true;
    this.#endWait()?.resolve(this);
  }

  /** Ends the wait with a refusal. */
  refuse(reason: unknown): void {
    const { what } = this.queue.lack.of;
    const isLate = reason instanceof DeadlineExceeded;
    this.refused = reason;
    this.#endWait()?.reject(isLate ? new DeadlineExceeded(reason.totalTimeoutMs, what) : reason);
  }

  #endWait(): Wait | undefined {
    const { wait } = this;
    this.wait = undefined;
    if (wait === undefined) return undefined;
    for (const cancel of wait.cancels) cancel?.();
    const waitedMs = this.bounds.clock.now() - this.since;
    this.sending.call.spendWait(waitedMs);
    this.sending.call.waited(waitedMs);
    this.sending.plan.onWait?.(undefined);
    return wait;
  }
}

/** Requests that spend the same budgets at the same priority, from any client. */
export class Kind {
  readonly budgets: readonly Budget[];
  readonly priority: Priority;
  /** The last budget. A request spends its weight of this budget, and 1 of each other budget. */
  readonly narrowest: Budget;
  /** Admits the requests in agreement with other processes; undefined if this process decides alone. */
  readonly gate: Gate | undefined;
  /** The queues with waiting requests. */
  readonly queues = new Set<AdmissionQueue>();
  /** The weight of the request that arrived last. */
  weight = 1;
  readonly #wider: readonly Budget[];
  /** The number of requests that wait or are in flight. */
  #active = 0;
  /** The largest batch that the service may accept. */
  #mostAtOnce = never;

  constructor(wider: readonly Budget[], narrowest: Budget, priority: Priority) {
    this.budgets = [...wider, narrowest];
    this.#wider = wider;
    this.narrowest = narrowest;
    this.gate = narrowest.shared?.gateOf(this);
    this.priority = priority;
  }

  /** How much a request of this weight spends of a budget. */
  weightOf(budget: Budget, weight: number): number {
    return budget === this.narrowest ? weight : 1;
  }

  /** How many permits of a budget a request of this weight takes: never more than the limit. */
  amountOf(budget: Budget, weight: number): number {
    return Math.min(this.weightOf(budget, weight), budget.limit.max);
  }

  /**
   * Notes a request that starts to wait or goes. The wider budgets keep a share for the kind until its last request
   * ends.
   */
  begin(): void {
    this.#active += 1;
    if (this.#active === 1) for (const wide of this.#wider) wide.kindsWithShare.add(this);
  }

  end(): void {
    this.#active -= 1;
    if (this.#active === 0) for (const wide of this.#wider) wide.kindsWithShare.delete(this);
  }

  /**
   * The kind's share of a wider budget: as many requests as its narrowest budget allows in a window of the wide budget,
   * but at most half of the wide limit.
   *
   * For example, with limits of 50 events per second and 100 requests per 10 seconds, batches of 25 events can use 20
   * of the 100 requests.
   */
  shareOf(wide: Pick<Budget, "limit">): number {
    const { max, windowMs } = this.narrowest.limit;
    const each = this.amountOf(this.narrowest, this.weight);
    const share = Math.ceil((wide.limit.windowMs / windowMs) * (max / each));
    return Math.min(share, Math.ceil(wide.limit.max / 2));
  }

  /** Notes a 429. If the service counts all events of a batch at once, a batch larger than the limit never fits. */
  refused(weight: number): void {
    const { max } = this.narrowest.limit;
    if (weight > max) this.#mostAtOnce = max;
  }

  /** The budget that a pause of `ms` stops. A long pause stops only `sending`, if the kind spends that budget. */
  stoppedFor(ms: number): Budget {
    const sending = this.budgets.length > 2 ? this.budgets.at(-2) : undefined;
    return (ms > this.narrowest.limit.windowMs && sending) || this.narrowest;
  }

  /**
   * The largest size that the service or the reserve allows, for a batch that is larger; undefined if the batch may be
   * sent whole.
   */
  cutTo(weight: number, leastReserve: number): number | undefined {
    if (weight > this.#mostAtOnce) return this.#mostAtOnce;
    if (this.priority === "interactive") return undefined;
    const largest = this.narrowest.largestBatch(leastReserve);
    return this.amountOf(this.narrowest, weight) > largest ? largest : undefined;
  }
}

/** Requests of one kind that need a slot of the same client, first come first served. */
export class AdmissionQueue {
  readonly kind: Kind;
  readonly slots: ConcurrencyLimit;
  /** The number of waiting requests. */
  length = 0;
  /** The permits of the narrowest budget that the waiting requests will take. */
  amount = 0;
  /** What keeps the first request, and so all requests behind it, from going. */
  lack: Lack;
  /** Whether the current check of the queues has set `lack`. */
  isBlocked = false;
  readonly #waiting = new Link<Admission | undefined>(undefined);

  constructor(kind: Kind, slots: ConcurrencyLimit) {
    this.kind = kind;
    this.slots = slots;
    [this.lack] = slots.lacks;
  }

  get first(): Admission | undefined {
    return this.#waiting.next.value;
  }

  /** The waiting requests, in their order. */
  *requests(): Iterable<Admission> {
    for (let at = this.#waiting.next; at.value !== undefined; at = at.next) yield at.value;
  }

  /** Sets `lack`, unless the current check of the queues has already set it. */
  block(lack: Lack): void {
    if (this.isBlocked) return;
    this.lack = lack;
    this.isBlocked = true;
  }

  push(admission: Admission): void {
    const { kind, slots } = this;
    admission.link = new Link<Admission | undefined>(admission, this.#waiting);
    this.length += 1;
    this.amount += kind.amountOf(kind.narrowest, admission.weight);
    kind.begin();
    if (this.length > 1) return;
    kind.queues.add(this);
    slots.queues.push(this);
    for (const { queues } of kind.budgets) queues.add(this);
  }

  remove(admission: Admission): void {
    const { kind, slots } = this;
    admission.link?.remove();
    this.length -= 1;
    this.amount -= kind.amountOf(kind.narrowest, admission.weight);
    kind.end();
    if (this.length === 0) {
      kind.queues.delete(this);
      slots.queues.splice(slots.queues.indexOf(this), 1);
      for (const budget of kind.budgets) budget.removeQueue(this);
    }
    kind.gate?.drop(admission);
  }

  /** Removes a waiting request and rejects its wait. */
  refuse(admission: Admission, reason: unknown): void {
    // One signal may abort several requests. A check of the queues, caused by another one, may have ended this wait.
    if (admission.wait === undefined) return;
    const wasFirst = this.first === admission;
    this.remove(admission);
    admission.refuse(reason);
    // The requests behind it may be able to go.
    if (wasFirst) this.kind.narrowest.changed();
  }

  /** Refuses the waiting requests, except those of a recorder (`isDrained`). Returns how many it refused. */
  refuseWaiting(reason: unknown): number {
    const refused = [...this.requests()].filter(({ sending }) => !sending.plan.isDrained);
    for (const admission of refused) this.refuse(admission, reason);
    return refused.length;
  }
}

/** The slots of a client and its siblings with the same transport: how many requests may be in flight. */
export class ConcurrencyLimit {
  readonly name = "concurrency";
  readonly what = "a free slot (concurrency)";
  readonly reason = "concurrency";
  readonly max: number;
  /** The number of requests in flight. */
  inUse = 0;
  /** What a request lacks while all slots are in use. */
  readonly lacks: readonly [Lack] = [{ of: this, isForAll: true, until: never }];
  /** The queues with waiting requests, in the order in which their turns come. */
  readonly queues: AdmissionQueue[] = [];
  /** Why only the requests of a recorder (`isDrained`) may start to wait or go; undefined while the client is open. */
  closing: unknown = undefined;
  #onIdle: (() => void)[] = [];

  constructor(max: number) {
    this.max = max;
  }

  /** Frees a slot. Queues that share the slots take turns, because they may belong to clients with different keys. */
  free(): void {
    const wasFull = this.inUse >= this.max;
    this.inUse -= 1;
    if (this.inUse === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    for (let left = wasFull ? this.queues.length : 0; left > 0 && this.inUse < this.max; left -= 1) {
      const queue = this.queues.shift();
      if (queue === undefined) return;
      this.queues.push(queue);
      queue.kind.narrowest.changed();
    }
  }

  /**
   * Refuses the waiting requests, and new requests until `reopen`, except those of a recorder (`isDrained`).
   *
   * @returns how many waiting requests it refused.
   */
  startClosing(reason: unknown): number {
    this.closing = reason;
    return [...this.queues].reduce((sum, queue) => sum + queue.refuseWaiting(reason), 0);
  }

  reopen(): void {
    this.closing = undefined;
  }

  /** Resolves when no request is in flight. */
  async whenIdle(): Promise<void> {
    if (this.inUse > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }
}
