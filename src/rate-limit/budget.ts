import type { BudgetState, Limit } from "../options/limits.ts";
import type { Priority } from "../options/priority.ts";
import type { LostStore, PermitHolder, PermitSource } from "../options/shared-limits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import { Holding, Permits } from "./permits.ts";

const never = Number.POSITIVE_INFINITY;

// Background work leaves one and a half times what interactive calls used in the last window, and at most half.
const reserveFactor = 1.5;
const mostReserve = 1 / 2;
// For how many windows it remembers interactive calls.
const rememberedWindows = 3;
/** The part of each budget that background work keeps while interactive calls use all they can get. */
const backgroundPart = 1 / 10;

/** A pause that the service asked for, and the probe after it. */
class Pause {
  /** The end of the pause, on the clock that `start` got. */
  until = Number.NEGATIVE_INFINITY;
  /** The response that asked for the pause; undefined before the first. */
  by: string | undefined;
  #isProbeDue = false;
  #probe: object | undefined;

  /** Whether the probe is in flight. */
  get isProbeOut(): boolean {
    return this.#probe !== undefined;
  }

  /** Whether the probe is due or in flight. */
  get isProbing(): boolean {
    return this.#isProbeDue || this.isProbeOut;
  }

  /** A shorter pause never shortens a longer one. */
  start(until: number, by: string | undefined): void {
    if (until > this.until) [this.until, this.by] = [until, by];
    this.#isProbeDue = true;
  }

  took(request: object): void {
    if (this.#isProbeDue) this.#probe = request;
    this.#isProbeDue = false;
  }

  /** If the probe never left, the next request becomes the probe. */
  refunded(request: object): void {
    if (this.#probe === request) this.start(this.until, this.by);
    this.settled(request);
  }

  settled(request: object): void {
    if (this.#probe === request) this.#probe = undefined;
  }
}

/**
 * One limit of the service: hands out permits, takes them back a window after the response, and stops during a pause.
 */
export class Budget implements PermitHolder {
  readonly name: string;
  readonly limit: Limit;
  /** Waiting requests that will spend this budget. */
  readonly waiting: Record<Priority, number> = { interactive: 0, background: 0 };
  /** The weight of waiting requests whose narrowest budget this is. */
  readonly queued: Record<Priority, number> = { interactive: 0, background: 0 };
  /** Permits in use or cooling. */
  readonly held: Record<Priority, number> = { interactive: 0, background: 0 };
  /** What the first waiting request takes and leaves; 0 if none waits for permits. */
  #wanted = 0;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #source: PermitSource;
  readonly #permits: Permits;
  readonly #pause = new Pause();
  #interactiveUntil = Number.NEGATIVE_INFINITY;
  #backgroundAt = Number.NEGATIVE_INFINITY;
  #alarm: { readonly at: number; readonly cancel: Cancel } | undefined;

  constructor(
    name: string,
    limit: Limit,
    context: { readonly clock: Clock; readonly onChange: () => void; readonly source: PermitSource },
  ) {
    this.name = name;
    this.limit = limit;
    this.#clock = context.clock;
    this.#onChange = context.onChange;
    this.#source = context.source;
    this.#permits = new Permits(limit, context.clock, this.#source.initial);
    this.#source.attach(this);
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
    if (now < this.#pause.until || this.#pause.isProbeOut || !this.#source.isValid) return false;
    this.#permits.thaw(now);
    return this.#permits.inHand >= amount + Math.min(kept, Math.max(0, this.reach - amount));
  }

  take(amount: number, request: object, holding: Holding, priority: Priority): void {
    this.#permits.take(amount);
    this.#pause.took(request);
    this.#source.used();
    holding.add(amount);
    if (priority === "background") this.#backgroundAt = this.#clock.now();
  }

  /** The request was never sent: its permits are free at once. */
  refund(amount: number, request: object, holding: Holding): void {
    holding.add(-amount);
    this.#permits.putBack(amount);
    this.#pause.refunded(request);
  }

  /** The request was answered; if that is unknown, `roundTripMs` is undefined. */
  settle(weight: number, request: object, holding: Holding, roundTripMs: number | undefined): void {
    this.#pause.settled(request);
    this.#permits.cool(weight, roundTripMs, holding);
    this.#source.settled?.();
  }

  /** An interactive call arrived: background work leaves a reserve in the next windows. */
  sawInteractive(): void {
    this.#interactiveUntil = this.#clock.now() + rememberedWindows * this.limit.perMs;
  }

  /** The part of a window that background work leaves now; `least` is a share of the limit. */
  reserve(least: number): number {
    const hasInteractive = this.interactive.ms > 0 || this.#source.interactiveElsewhere !== undefined;
    if (!hasInteractive || this.limit.max === never) return 0;
    const { max } = this.limit;
    const wanted = Math.max(max * least, this.#interactiveHeld * reserveFactor);
    return Math.ceil(Math.min(wanted, Math.floor(max * mostReserve)));
  }

  /** The largest batch that background work sends: what the reserve leaves of a window. */
  largestBatch(least: number): number {
    return this.limit.max - this.reserve(least);
  }

  /** The size for a batch that does not fit beside interactive calls; undefined if it fits. */
  cutTo(amount: number, least: number): number | undefined {
    const largest = this.largestBatch(least);
    return amount > largest && amount + this.#interactiveHeld > this.limit.max ? largest : undefined;
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
    return this.held.background === 0 && sinceMs >= (amount / part) * this.limit.perMs;
  }

  /** Pauses for `ms`. Then one request goes as the probe, and the others after it succeeded. */
  pause(ms: number, by?: string): void {
    this.#pause.start(this.#clock.now() + ms, by);
  }

  /** The service asked for a pause with the response `by`; all processes that share the budget learn of it. */
  applyPause(ms: number, by: string): void {
    this.pause(ms, by);
    this.#source.paused(ms, by);
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
    this.#wanted = Math.min(this.limit.max, amount + kept);
    this.#source.want();
    // The source may have brought some at once, or a permit may have come back since has() said no.
    if (this.has(amount, kept)) return true;
    // Permits that came back without a valid lease must not wake the queue again and again.
    this.#permits.thaw(now);
    const reserveEndsAt = kept > 0 && this.#interactiveUntil > now ? this.#interactiveUntil : never;
    const next = Math.min(this.#permits.nextAt ?? never, this.lost?.givesUpAt ?? never, reserveEndsAt);
    if (next !== never) this.#wakeAt(next);
    return false;
  }

  /** No request waits any more. */
  rest(): void {
    this.#wanted = 0;
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  /** The permits that this process can count on: all of the limit, or its own part of shared limits. */
  get reach(): number {
    return this.#source.isShared ? this.leased : this.limit.max;
  }

  get leased(): number {
    return this.#permits.leased;
  }

  get waiters(): number {
    return this.waiting.interactive + this.waiting.background;
  }

  get interactive(): PermitHolder["interactive"] {
    const ms = Math.max(0, this.#interactiveUntil - this.#clock.now());
    return { waiting: this.waiting.interactive, held: this.held.interactive, ms };
  }

  /** In all processes that share the budget. */
  get #interactiveHeld(): number {
    return this.held.interactive + (this.#source.interactiveElsewhere ?? 0);
  }

  get lacking(): number {
    return Math.max(0, this.#wanted - this.#permits.inHand);
  }

  get idle(): number {
    this.#permits.thaw(this.#clock.now());
    return Math.max(0, this.#permits.inHand);
  }

  spareFor(ms: number): number {
    const { idle } = this;
    return this.waiters === 0 ? idle : Math.min(idle, this.#permits.unneededFor(ms));
  }

  get owed(): number {
    return this.#permits.owed;
  }

  get leavesInMs(): number | undefined {
    return this.#permits.leavesInMs;
  }

  get allowanceMs(): number {
    return this.#permits.allowanceMs;
  }

  get isProbing(): boolean {
    return this.#pause.isProbing;
  }

  grant(count: number): void {
    this.#permits.grant(count);
    this.#onChange();
  }

  retire(count: number): void {
    this.#permits.retire(count);
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
    return this.#source.lost;
  }

  /** Whether no request should wait for that store any longer. */
  get isGivenUp(): boolean {
    return (this.lost?.givesUpAt ?? never) <= this.#clock.now();
  }

  /** Tries to reach the store again, although no request waits for it. */
  seek(): void {
    this.#source.want();
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
    const used = isLimited ? Math.min(max, this.#permits.used + this.#source.usedElsewhere) : 0;
    const { pausedForMs, lost } = this;
    const left = lost?.givesUpAt === undefined ? max - used : 0;
    return {
      used,
      left,
      freesInMs: left > 0 ? 0 : this.waitMs(),
      pausedUntil: pausedForMs > 0 ? this.#clock.wallTime() + pausedForMs : undefined,
      pausedBy: pausedForMs > 0 ? this.#pause.by : undefined,
      lost: lost?.why,
      waiting: { ...this.waiting },
    };
  }

  /** Clears its timer and returns its permits. */
  async close(): Promise<void> {
    this.rest();
    await this.#source.close();
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
