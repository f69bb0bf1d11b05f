import type { BudgetState, Limit } from "../options/limits.ts";
import type { Priority } from "../options/priority.ts";
import type { DayCount, Ending, SharedBudget, SharingBudget, SharingKind } from "../options/shared-limits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import { Permits } from "./permits.ts";
import {
  isBackgroundDue,
  keptForShares,
  keptOfReserve,
  rememberedWindows,
  reserveOf,
  type Share,
} from "./rules.ts";

const never = Number.POSITIVE_INFINITY;

/** The holder of permits: the requests of one kind. */
type Holder = Pick<SharingKind, "priority">;

/** Requests that wait in one queue and will spend this budget. */
interface WaitingQueue {
  readonly kind: Holder & { readonly narrowest: object };
  readonly slots: object;
  readonly length: number;
  readonly amount: number;
  block(lack: object): void;
}

/** What a budget needs from its limiter. */
interface BudgetContext {
  readonly clock: Clock;
  /** The limit that other processes share; undefined if this process counts alone. */
  readonly shared?: SharedBudget | undefined;
  readonly day: DayCount;
  /** Checks the requests that wait for the budget again. */
  readonly onChange: (budget: Budget) => void;
  /** The budgets that must stay in memory. A budget adds itself when it is used or paused. */
  readonly remembered?: Set<Budget> | undefined;
}

/**
 * One limit of the service. A budget hands out permits, takes them back a window after the response, and stops during a
 * pause.
 */
export class Budget implements SharingBudget {
  readonly name: BudgetName;
  readonly limit: Limit;
  readonly day: DayCount;
  /** The queues with requests that will spend this budget. */
  readonly queues = new Set<WaitingQueue>();
  /** The kinds with a share of this budget: they have requests, and also need a narrower budget. */
  readonly kindsWithShare = new Set<SharingKind>();
  /**
   * The kinds whose narrowest budget is this one, keyed by the widest budget of each. The keys are weak, because a
   * wider budget may leave memory earlier.
   */
  readonly kinds = new WeakMap<SharingBudget, Map<string, SharingKind>>();
  readonly #clock: Clock;
  readonly #context: Pick<BudgetContext, "onChange" | "remembered">;
  readonly shared: SharedBudget | undefined;
  readonly #permits: Permits<Holder>;
  /** The end of the pause that ends last, and the response that asked for that pause. */
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pausedBy: string | undefined;
  /** Whether the next request is a probe: a request that is sent alone after a pause. */
  #isProbeDue = false;
  /** The probe, while it is in flight. */
  #probe: object | undefined;
  /** Until when background work leaves a reserve for interactive calls. */
  #interactiveUntil = Number.NEGATIVE_INFINITY;
  /** When the last background request went. */
  #backgroundAt = Number.NEGATIVE_INFINITY;
  #alarm: { readonly at: number; readonly cancel: Cancel } | undefined;

  constructor(name: BudgetName, limit: Limit, context: BudgetContext) {
    const { clock, shared, day } = context;
    this.name = name;
    this.limit = limit;
    this.day = day;
    this.#clock = clock;
    this.shared = shared;
    this.#context = context;
    this.#permits = new Permits(limit, clock);
    shared?.attach(this);
  }

  /**
   * Whether the budget is not paused and no request waits or holds permits. An idle budget can be dropped if its daily
   * count is kept.
   */
  get isIdle(): boolean {
    return this.queues.size === 0 && this.#permits.taken.size === 0 && this.pausedForMs === 0;
  }

  /** Checks the waiting requests again. */
  changed(): void {
    this.#context.onChange(this);
  }

  #heldBy(priority: Priority): number {
    let sum = 0;
    for (const [holder, count] of this.#permits.taken) if (holder.priority === priority) sum += count;
    return sum;
  }

  /**
   * Returns when to call again, or undefined if `amount` permits may be taken now. `Infinity` means at the end of a
   * request. After the permits are taken, `reserve` permits must be left, or as many as the limit allows.
   */
  readyAt(amount: number, reserve = 0): number | undefined {
    const now = this.#clock.now();
    if (now < this.#pausedUntil) return this.#pausedUntil;
    if (this.#probe !== undefined) return never;
    const wanted = amount + Math.min(reserve, Math.max(0, this.limit.max - amount));
    if (this.#permits.idle >= wanted) return undefined;
    const nextAt = this.#permits.backAt(1) ?? never;
    return reserve > 0 && this.#interactiveUntil > now ? Math.min(nextAt, this.#interactiveUntil) : nextAt;
  }

  take(weight: number, request: object, holder: Holder): void {
    this.#permits.take(Math.min(weight, this.limit.max), holder);
    if (this.#isProbeDue) {
      this.#probe = request;
      this.#isProbeDue = false;
    }
    this.day.add(weight);
    if (holder.priority === "background") this.#backgroundAt = this.#clock.now();
    this.#context.remembered?.add(this);
  }

  /** Ends a request. A request that was never sent returns its permits at once. */
  end(weight: number, request: object, holder: Holder, { roundTripMs, wasSent }: Ending): void {
    if (this.#probe === request) {
      this.#probe = undefined;
      // If the probe was never sent, the next request becomes the probe.
      this.#isProbeDue ||= !wasSent;
    }
    if (wasSent) return this.#permits.cool(weight, roundTripMs, holder);
    this.#permits.take(-Math.min(weight, this.limit.max), holder);
    this.day.add(-weight);
  }

  /** Notes an interactive call, so that background work leaves a reserve in the next windows. */
  sawInteractive(): void {
    this.#interactiveUntil = this.#clock.now() + rememberedWindows * this.limit.windowMs;
  }

  /** How many permits of a window background work leaves now; `least` is the smallest fraction of the limit. */
  reserve(least: number): number {
    const { max } = this.limit;
    const hasInteractive =
      this.#interactiveUntil > this.#clock.now() || this.shared?.interactive !== undefined;
    if (!hasInteractive || max === never) return 0;
    return reserveOf(max, this.#interactiveHeld, least);
  }

  /** The largest batch that background work may send: the limit without the reserve. */
  largestBatch(least: number): number {
    return this.limit.max - this.reserve(least);
  }

  /** How many idle permits a background request of this amount has to leave for interactive ones. */
  keptFromBackground(amount: number, least: number): number {
    return keptOfReserve(this.reserve(least), this.limit.max, amount, this.#interactiveHeld);
  }

  /** How many permits a request that needs no narrower budget leaves for requests that do. */
  keptForShares(priority: Priority): number {
    return keptForShares(this.limit.max, priority === "interactive", this.#shares());
  }

  *#shares(): Iterable<Share> {
    for (const kind of this.kindsWithShare) {
      const inUse = this.#permits.taken.get(kind) ?? 0;
      yield { isInteractive: kind.priority === "interactive", share: kind.shareOf(this), inUse };
    }
  }

  /** Whether background work has had less than its tenth, so that its next request goes before interactive requests. */
  isBackgroundDue(amount: number): boolean {
    return isBackgroundDue(
      this.limit,
      amount,
      this.#heldBy("background"),
      this.#clock.now() - this.#backgroundAt,
    );
  }

  /** Pauses for `ms`. Then one request is sent alone as the probe; the others wait until the probe has ended. */
  pause(ms: number, by?: string): void {
    const until = this.#clock.now() + ms;
    // A shorter pause never shortens a longer one.
    if (until > this.#pausedUntil) {
      this.#pausedUntil = until;
      this.#pausedBy = by;
    }
    this.#isProbeDue = true;
    this.#context.remembered?.add(this);
  }

  /** Applies a pause that the response `by` asked for, in all processes that share the budget. */
  applyPause(ms: number, by: string): void {
    this.pause(ms, by);
    this.shared?.paused(ms, by);
    this.changed();
  }

  /** Removes a queue that has no waiting requests any longer. */
  removeQueue(queue: WaitingQueue): void {
    this.queues.delete(queue);
    if (this.queues.size > 0) return;
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  /** The number of waiting requests that will spend this budget. */
  get waiting(): Record<Priority, number> {
    const waiting = { interactive: 0, background: 0 };
    for (const { kind, length } of this.queues) waiting[kind.priority] += length;
    return waiting;
  }

  /** Permits that interactive requests hold, in all processes that share the budget. */
  get #interactiveHeld(): number {
    return this.shared?.interactive ?? this.#heldBy("interactive");
  }

  /** What a request waits for while it lacks permits of this budget. */
  get what(): string {
    return this.shared?.lost?.why ?? `the limit ${this.name}`;
  }

  /** Why a request waits for this budget. A pause lasts until its probe has ended. */
  get reason(): "pause" | "limit" {
    // With shared limits, the store chooses the probe.
    const isProbing = this.shared === undefined && (this.#isProbeDue || this.#probe !== undefined);
    return isProbing || this.pausedForMs > 0 ? "pause" : "limit";
  }

  /** The remaining time of a pause, in milliseconds; 0 without a pause. */
  get pausedForMs(): number {
    const until = this.#pausedUntil;
    // A fast path: each request reads this several times, and few budgets were ever paused.
    return until === Number.NEGATIVE_INFINITY ? 0 : Math.max(0, until - this.#clock.now());
  }

  /** The least time until waiting requests with this total amount have gone, in milliseconds; 0 if unknown. */
  knownWaitMs(amount: number): number {
    return Math.ceil(Math.max(this.pausedForMs, this.#permits.readyInMs(amount)));
  }

  get state(): BudgetState {
    const { max } = this.limit;
    const isLimited = max !== never;
    const used = isLimited ? Math.min(max, this.shared?.inUse ?? max - this.#permits.idle) : 0;
    const { pausedForMs } = this;
    const lost = this.shared?.lost;
    const remaining = lost?.givesUpAt === undefined ? max - used : 0;
    return {
      used,
      remaining,
      resetsInMs: remaining > 0 ? 0 : this.knownWaitMs(1),
      pausedUntil: pausedForMs > 0 ? this.#clock.wallTime() + pausedForMs : undefined,
      pausedBy: pausedForMs > 0 ? this.#pausedBy : undefined,
      lost: lost?.why,
      waiting: this.waiting,
    };
  }

  /** Checks the queues again at `at`. */
  wakeAt(at: number): void {
    const now = this.#clock.now();
    if (at === never) return;
    if (this.#alarm !== undefined && this.#alarm.at <= at && this.#alarm.at > now) return;
    this.#alarm?.cancel();
    const cancel = this.#clock.after(at - now, () => {
      this.#alarm = undefined;
      this.changed();
    });
    this.#alarm = { at, cancel };
  }
}
