import type { HttpRequest } from "../http/message.ts";
import type { Send, Sending } from "../http/types.ts";
import type { WaitNotice } from "../options/hooks.ts";
import type { Priority } from "../options/priority.ts";
import type { Gate, SharingRequest } from "../options/shared-limits.ts";
import { DeadlineExceeded, Link } from "../runtime/cancellation.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { Budget } from "./budget.ts";

const never = Number.POSITIVE_INFINITY;

/** How long a client waits. */
export interface WaitBounds {
  /** A longer pause is not waited for. */
  readonly maxRetryAfterMs: number;
  /** The smallest share of each window that its background work leaves while there are interactive calls. */
  readonly interactiveReserve: number;
  /** How many interactive requests may wait at once. */
  readonly maxQueued: number;
  readonly clock: Clock;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

/** What a request lacks. */
export interface Lack {
  readonly of: Budget | ConcurrencyLimit;
  /** Whether later requests must not take it either. */
  readonly isForAll: boolean;
  /** When to look again, if nothing ends before; `Infinity` if only what ends can tell. */
  readonly until: number;
}

/** How a wait ends. */
interface Wait {
  readonly resolve: (admission: Admission) => void;
  readonly reject: (reason: unknown) => void;
  /** What else could end it, or tell of it. */
  readonly cancels: readonly (Cancel | undefined)[];
  /** Runs `onWait` in the async context of the call; undefined without `onWait`. */
  readonly inContext: ((callback: () => void) => void) | undefined;
}

/** One attempt that asks to be sent. */
export class Admission implements SharingRequest {
  readonly sending: Sending;
  readonly request: HttpRequest;
  readonly send: Send;
  readonly queue: AdmissionQueue;
  readonly bounds: WaitBounds;
  readonly weight: number;
  readonly since: number;
  /** Its position among all requests that waited. */
  order = 0;
  /** Its place in the queue. */
  link: Link<Admission | undefined> | undefined;
  hasGone = false;
  /** Why it was refused, also before its wait began. */
  refused: unknown;
  /** Set while it waits, and nothing has ended the wait yet. */
  wait: Wait | undefined;
  /** What was last told of its wait. */
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

  /** Whether it must not be sent any more: the service has stopped one of its limits, or its permits are no longer sure. */
  get mustWaitAgain(): boolean {
    const { budgets, gate } = this.queue.kind;
    for (const budget of budgets) if (budget.pausedForMs > 0) return true;
    return gate?.isLapsed(this) ?? false;
  }

  /** What it lacks while it waits. */
  get notice(): WaitNotice {
    const { of, until } = this.queue.lack;
    const waitMs = until === never ? 0 : Math.ceil(Math.max(0, until - this.bounds.clock.now()));
    return { operation: this.sending.operation.id, waitingFor: of.name, reason: of.reason, waitMs };
  }

  /** Tells what it waits for, again when that changes, for example from a slot to a limit. */
  tell(): void {
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

  /** Ends its wait with a refusal. */
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
  /** The last budget: it is spent by weight, and a 429 pauses it. */
  readonly narrowest: Budget;
  /** The store that decides for this kind together with other processes; undefined if this process decides alone. */
  readonly gate: Gate | undefined;
  /** Those with requests that wait. */
  readonly queues = new Set<AdmissionQueue>();
  /** The weight of the latest request. */
  weight = 1;
  readonly #wider: readonly Budget[];
  /** Requests that wait or are in flight. */
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

  /** What a request of this weight spends of a budget. */
  weightOf(budget: Budget, weight: number): number {
    return budget === this.narrowest ? weight : 1;
  }

  /** How many permits of a budget a request of this weight takes: never more than the limit. */
  amountOf(budget: Budget, weight: number): number {
    return Math.min(this.weightOf(budget, weight), budget.limit.max);
  }

  /** A request waits or goes: a share of its wider budgets is kept for its kind. */
  begin(): void {
    this.#active += 1;
    if (this.#active === 1) for (const wide of this.#wider) wide.sharing.add(this);
  }

  end(): void {
    this.#active -= 1;
    if (this.#active === 0) for (const wide of this.#wider) wide.sharing.delete(this);
  }

  /**
   * Its share of a wider budget: what its narrowest budget allows in a window of the wide one, at most half of that.
   *
   * With 50 events in a second, batches of 25 can use 20 of 100 requests in 10 seconds.
   */
  shareOf(wide: Pick<Budget, "limit">): number {
    const { max, windowMs } = this.narrowest.limit;
    const each = this.amountOf(this.narrowest, this.weight);
    const share = Math.ceil((wide.limit.windowMs / windowMs) * (max / each));
    return Math.min(share, Math.ceil(wide.limit.max / 2));
  }

  /** The service answered 429. A batch larger than the limit may never fit where it counts all of its events at once. */
  refused(weight: number): void {
    const { max } = this.narrowest.limit;
    if (weight > max) this.#mostAtOnce = max;
  }

  /** The budget that a pause of `ms` stops. A long pause stops only the budget for sending, if the kind has one. */
  stoppedFor(ms: number): Budget {
    const sending = this.budgets.length > 2 ? this.budgets.at(-2) : undefined;
    return (ms > this.narrowest.limit.windowMs && sending) || this.narrowest;
  }

  /** The size for a batch that must not be sent whole: the service, or the reserve, allows no more; undefined if it may. */
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
  /** How many wait. */
  length = 0;
  /** What they will take of their narrowest budget. */
  amount = 0;
  /** What keeps its first request from going, and so all behind it. */
  lack: Lack;
  /** Whether that was found in the present look at the queues. */
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

  /** What it lacks, if nothing was found before. */
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
      for (const budget of kind.budgets) budget.left(this);
    }
    kind.gate?.drop(admission);
  }

  /** Removes a waiting request and rejects its wait. */
  refuse(admission: Admission, reason: unknown): void {
    // The wait is already over: the signal ended other requests first, and that refused or admitted this one.
    if (admission.wait === undefined) return;
    const wasFirst = this.first === admission;
    this.remove(admission);
    admission.refuse(reason);
    // The requests behind it may be able to go.
    if (wasFirst) this.kind.narrowest.changed();
  }

  /** Refuses the waiting requests that are not drained, and returns how many there were. */
  refuseWaiting(reason: unknown): number {
    const refused = [...this.requests()].filter(({ sending }) => !sending.plan.isDrained);
    for (const admission of refused) this.refuse(admission, reason);
    return refused.length;
  }
}

/** How many requests of one client may be in flight. */
export class ConcurrencyLimit {
  readonly name = "concurrency";
  readonly what = "a free slot (concurrency)";
  readonly reason = "concurrency";
  readonly max: number;
  /** Requests in flight. */
  inUse = 0;
  /** What a request lacks while all slots are in use. */
  readonly lacks: readonly [Lack] = [{ of: this, isForAll: true, until: never }];
  /** Queues of requests that need a slot; the one that waits longest for one comes first. */
  readonly queues: AdmissionQueue[] = [];
  /** Why no request may start to wait or go, except drained ones; undefined while the client is open. */
  closing: unknown;
  #onIdle: (() => void)[] = [];

  constructor(max: number) {
    this.max = max;
  }

  /** Clients of different keys may share slots but wait in separate queues: these take turns. */
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

  /** Refuses waiting requests, and new ones until `reopen`, except drained ones. Returns how many waited. */
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
