import type { BudgetState, Limit } from "../options/limits.ts";
import type { Priority } from "../options/priority.ts";
import type { DayCount, LostStore, SharedBudget, SharingBudget } from "../options/shared-limits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import { Pause } from "./pause.ts";
import { Holding, Permits } from "./permits.ts";

const never = Number.POSITIVE_INFINITY;

// Background work leaves one and a half times what interactive calls used in the last window, except its own tenth.
const reserveFactor = 1.5;
// For how many windows it remembers interactive calls.
const rememberedWindows = 3;
/** The part of each budget that background work keeps while interactive calls use all they can get. */
const backgroundPart = 1 / 10;

/** What a budget is made of. */
interface BudgetContext {
  readonly clock: Clock;
  /** The limit that other processes share; undefined if this process counts alone. */
  readonly shared?: SharedBudget | undefined;
  readonly day: DayCount;
  readonly onChange: () => void;
  /** A pause that outlasts an earlier budget of the same limit. */
  readonly pause?: Pause | undefined;
  /** Called when it is used, once a minute at most: it must not be forgotten. */
  readonly keep?: (() => void) | undefined;
}

const keepMs = 60_000;

/**
 * One limit of the service: hands out permits, takes them back a window after the response, and stops during a pause.
 */
export class Budget implements SharingBudget {
  readonly name: BudgetName;
  readonly limit: Limit;
  readonly day: DayCount;
  /** Waiting requests that will spend this budget. */
  readonly waiting: Record<Priority, number> = { interactive: 0, background: 0 };
  /** The weight of waiting requests whose narrowest budget this is. */
  readonly queued: Record<Priority, number> = { interactive: 0, background: 0 };
  /** Permits in use or cooling. */
  readonly held: Record<Priority, number> = { interactive: 0, background: 0 };
  readonly #clock: Clock;
  readonly #keep: BudgetContext["keep"];
  #keptAt = Number.NEGATIVE_INFINITY;
  readonly #onChange: () => void;
  readonly shared: SharedBudget | undefined;
  readonly #permits: Permits;
  readonly #pause: Pause;
  #interactiveUntil = Number.NEGATIVE_INFINITY;
  #backgroundAt = Number.NEGATIVE_INFINITY;
  #alarm: { readonly at: number; readonly cancel: Cancel } | undefined;

  constructor(
    name: BudgetName,
    limit: Limit,
    { clock, shared, day, onChange, pause = new Pause(), keep }: BudgetContext,
  ) {
    this.name = name;
    this.limit = limit;
    this.day = day;
    this.#clock = clock;
    this.shared = shared;
    this.#onChange = onChange;
    this.#keep = keep;
    this.#pause = pause;
    this.#permits = new Permits(limit, clock);
    shared?.attach(this);
  }

  /** Whether no request waits or holds permits: nothing is lost without it but its day and its pause. */
  get isIdle(): boolean {
    return this.waiters === 0 && (this.shared !== undefined || this.#permits.used === 0);
  }

  /** Only its clients hold it from now on: its next use tells `keep` again. */
  release(): void {
    this.#keptAt = Number.NEGATIVE_INFINITY;
  }

  newHolding(priority: Priority): Holding {
    return new Holding(this.held, priority);
  }

  /** What a request of this weight takes: never more than the limit. */
  amountOf(weight: number): number {
    return Math.min(weight, this.limit.max);
  }

  /** Whether `amount` may be taken now and `kept` permits be left, but no more of those than there can be here. */
  has(amount: number, kept = 0): boolean {
    const now = this.#clock.now();
    if (now < this.#pause.until || this.#pause.isProbeOut) return false;
    this.#permits.thaw(now);
    return this.#permits.inHand >= amount + Math.min(kept, Math.max(0, this.limit.max - amount));
  }

  take(weight: number, request: object, holding: Holding, priority: Priority): void {
    const now = this.#clock.now();
    const amount = this.amountOf(weight);
    this.#permits.take(amount);
    this.#pause.took(request);
    this.day.add(weight);
    holding.add(amount);
    if (priority === "background") this.#backgroundAt = now;
    if (now - this.#keptAt < keepMs) return;
    this.#keptAt = now;
    this.#keep?.();
  }

  /** The request was never sent: its permits are free at once. */
  refund(weight: number, request: object, holding: Holding): void {
    const amount = this.amountOf(weight);
    holding.add(-amount);
    this.#permits.putBack(amount);
    this.day.add(-weight);
    this.#pause.refunded(request);
  }

  /** The request was answered; if that is unknown, `roundTripMs` is undefined. */
  settle(weight: number, request: object, holding: Holding, roundTripMs: number | undefined): void {
    this.#pause.settled(request);
    this.#permits.cool(weight, roundTripMs, holding);
  }

  /** An interactive call arrived: background work leaves a reserve in the next windows. */
  sawInteractive(): void {
    this.#interactiveUntil = this.#clock.now() + rememberedWindows * this.limit.windowMs;
  }

  /** The part of a window that background work leaves now; `least` is a share of the limit. */
  reserve(least: number): number {
    const hasInteractive =
      this.#interactiveUntil > this.#clock.now() || this.shared?.interactive !== undefined;
    if (!hasInteractive || this.limit.max === never) return 0;
    const { max } = this.limit;
    const wanted = Math.max(max * least, this.#interactiveHeld * reserveFactor);
    return Math.ceil(Math.min(wanted, Math.floor(max * (1 - backgroundPart))));
  }

  /** The largest batch that background work sends: what the reserve leaves of a window. */
  largestBatch(least: number): number {
    return this.limit.max - this.reserve(least);
  }

  /** The size for a batch that is larger than what the reserve leaves; undefined if it is not. */
  cutTo(amount: number, least: number): number | undefined {
    const largest = this.largestBatch(least);
    return amount > largest ? largest : undefined;
  }

  /** How many idle permits a background request of this amount has to leave for interactive ones. */
  keptFromBackground(amount: number, least: number): number {
    // A batch that is too large for what the reserve leaves may go when the whole budget is free.
    const reserve = Math.min(this.reserve(least), this.limit.max - amount);
    return Math.max(0, reserve - this.#interactiveHeld);
  }

  /**
   * Whether background work has had less than its tenth, so that a request of this amount goes before interactive ones.
   */
  isBackgroundDue(amount: number): boolean {
    const part = this.limit.max * backgroundPart;
    this.#permits.thaw(this.#clock.now());
    if (this.held.background + amount <= part) return true;
    const sinceMs = this.#clock.now() - this.#backgroundAt;
    return this.held.background === 0 && sinceMs >= (amount / part) * this.limit.windowMs;
  }

  /** Pauses for `ms`. Then one request goes as the probe, and the others after it succeeded. */
  pause(ms: number, by?: string): void {
    this.#pause.start(this.#clock.now() + ms, by);
  }

  /** The service asked for a pause with the response `by`; all processes that share the budget learn of it. */
  applyPause(ms: number, by: string): void {
    this.pause(ms, by);
    this.shared?.paused(ms, by);
    this.#onChange();
  }

  /**
   * A request waits for this budget: requests permits from the source, and checks the queues again in time.
   *
   * @returns whether the request may go now.
   */
  want(amount: number, kept = 0): boolean {
    const now = this.#clock.now();
    if (now < this.#pause.until) this.#wakeAt(this.#pause.until);
    if (now < this.#pause.until || this.#pause.isProbeOut) return false;
    // A permit may have come back since has() said no.
    if (this.has(amount, kept)) return true;
    const reserveEndsAt = kept > 0 && this.#interactiveUntil > now ? this.#interactiveUntil : never;
    const next = Math.min(this.#permits.nextAt ?? never, reserveEndsAt);
    if (next !== never) this.#wakeAt(next);
    return false;
  }

  /** No request waits any more. */
  rest(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  get waiters(): number {
    return this.waiting.interactive + this.waiting.background;
  }

  /** In all processes that share the budget. */
  get #interactiveHeld(): number {
    return this.shared?.interactive ?? this.held.interactive;
  }

  get isProbing(): boolean {
    // Of shared limits, the store chooses the probe.
    return this.shared === undefined ? this.#pause.isProbing : this.pausedForMs > 0;
  }

  changed(): void {
    this.#onChange();
  }

  /** What is left of a pause, in milliseconds; 0 without one. */
  get pausedForMs(): number {
    return Math.max(0, this.#pause.until - this.#clock.now());
  }

  /** Why the store that shares the limit is unavailable; undefined while it responds. */
  get lost(): LostStore | undefined {
    return this.shared?.lost;
  }

  /** Whether no request should wait for that store any longer. */
  get isGivenUp(): boolean {
    return (this.lost?.givesUpAt ?? never) <= this.#clock.now();
  }

  /** Tries to reach the store again, although no request waits for it. */
  seek(): void {
    this.shared?.seek();
  }

  /** How long a request of `amount` has to wait at least, after `ahead` permits for other requests; 0 if unknown. */
  knownWaitMs(ahead: number, amount: number): number {
    return Math.ceil(Math.max(this.pausedForMs, this.#permits.readyInMs(ahead + amount)));
  }

  /** How long the first waiting request has to wait at least, as far as is known now. */
  waitMs(): number {
    const now = this.#clock.now();
    // It is unknown when a probe will be answered.
    const nextAt = this.#pause.isProbeOut ? now : (this.#permits.nextAt ?? now);
    return Math.ceil(this.pausedForMs || Math.max(0, nextAt - now));
  }

  get state(): BudgetState {
    const { max } = this.limit;
    const isLimited = max !== never;
    const used = isLimited ? Math.min(max, this.shared?.used ?? this.#permits.used) : 0;
    const { pausedForMs, lost } = this;
    const remaining = lost?.givesUpAt === undefined ? max - used : 0;
    return {
      used,
      remaining,
      resetsInMs: remaining > 0 ? 0 : this.waitMs(),
      pausedUntil: pausedForMs > 0 ? this.#clock.wallTime() + pausedForMs : undefined,
      pausedBy: pausedForMs > 0 ? this.#pause.by : undefined,
      lost: lost?.why,
      waiting: { ...this.waiting },
    };
  }

  /** Clears its timer and returns its permits. */
  async close(): Promise<void> {
    this.rest();
    await this.shared?.close();
  }

  #wakeAt(at: number): void {
    const now = this.#clock.now();
    if (this.#alarm !== undefined && this.#alarm.at <= at && this.#alarm.at > now) return;
    this.#alarm?.cancel();
    const cancel = this.#clock.after(at - now, () => {
      this.#alarm = undefined;
      this.#onChange();
    });
    this.#alarm = { at, cancel };
  }
}
