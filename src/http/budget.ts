import type { Cancel, Clock } from "../clock.ts";
import type { BudgetState, Limit } from "../limits.ts";
import type { LeasedBudget, LeaseSource } from "../sharing.ts";
import type { Passage, Resource } from "./lanes.ts";
import { Pause } from "./pause.ts";
import { mostAllowance, type RoundTrips, roundTripsOn } from "./round-trips.ts";
import { CoolingPermits } from "./window.ts";

// A service that counts whole milliseconds may see a window up to one shorter; and no two clocks run alike.
const marginMs = (perMs: number): number => 1 + perMs * 0.0001;

// A timer set for the moment at which a permit is back must find it back.
const roundingMs = 0.001;
const never = Number.POSITIVE_INFINITY;

/**
 * One limit of the service: hands out permits, takes them back a window after the answer, and stands still while
 * the service has asked to wait.
 */
export class Budget implements Resource, LeasedBudget {
  readonly name: string;
  readonly limit: Limit;
  waiters = 0;
  /** What the first of those who wait will take; 0 when nobody waits for permits. */
  #wanted = 0;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #source: LeaseSource;
  #leased: number;
  #inHand: number;
  /** Permits that are given up as soon as they have cooled. */
  #owed = 0;
  /** Permits given up, which nobody else may have before the allowance for this process's latency is over. */
  readonly #leaving = new CoolingPermits();
  readonly #cooling = new CoolingPermits();
  /** By then every permit in hand has cooled in full. */
  #cooledAt = Number.NEGATIVE_INFINITY;
  readonly #roundTrips: RoundTrips;
  readonly #pause = new Pause();
  #alarm: { readonly at: number; readonly cancel: Cancel } | undefined;

  constructor(
    name: string,
    limit: Limit,
    context: { readonly clock: Clock; readonly onChange: () => void; readonly source: LeaseSource },
  ) {
    this.name = name;
    this.limit = limit;
    this.#clock = context.clock;
    this.#onChange = context.onChange;
    this.#source = context.source;
    this.#inHand = this.#source.initial;
    this.#leased = this.#inHand;
    this.#roundTrips = roundTripsOn(limit.perMs);
    this.#source.attach(this);
  }

  has(weight: number): boolean {
    const now = this.#clock.now();
    if (now < this.#pause.until || this.#pause.isOut || !this.#source.isValid) return false;
    this.#thaw(now);
    return this.#inHand >= Math.min(weight, this.limit.max);
  }

  take(weight: number, by: Passage): void {
    this.#inHand -= Math.min(weight, this.limit.max);
    this.#pause.took(by);
    this.#source.used();
  }

  /** The request never left: its permits are free at once. */
  refund(weight: number, by: Passage): void {
    this.#inHand += Math.min(weight, this.limit.max);
    this.#pause.refunded(by);
    this.#onChange();
  }

  /**
   * The request was answered, or nobody knows (`roundTripMs` undefined): its permits come back when no window can
   * hold both uses.
   */
  settle(weight: number, by: Passage, roundTripMs: number | undefined): void {
    const { max, perMs } = this.limit;
    this.#pause.settled(by);
    if (max !== Number.POSITIVE_INFINITY) {
      const now = this.#clock.now();
      if (roundTripMs !== undefined) this.#roundTrips.add(roundTripMs, now);
      // Without an answer nothing is known of when it was counted: the allowance is added here, to be none.
      const extraMs = roundTripMs === undefined ? perMs * mostAllowance : 0;
      const windows = Math.max(1, weight / max);
      this.#cooling.add(Math.min(weight, max), now + perMs * windows + marginMs(perMs) + extraMs);
    }
    this.#onChange();
  }

  /** Stands still for `ms`; then one request goes first, and the rest once it is through. */
  pause(ms: number, by?: string): void {
    this.#pause.start(this.#clock.now() + ms, by);
  }

  /** The service itself asked for a pause, with the answer `by`: whoever shares the budget hears of it. */
  heed(ms: number, by: string): void {
    this.pause(ms, by);
    this.#source.paused(ms, by);
    this.#onChange();
  }

  want(weight: number): void {
    const now = this.#clock.now();
    if (now < this.#pause.until) return this.#wakeAt(this.#pause.until);
    if (this.#pause.isOut) return;
    // It may have come free between being asked and being told to see to it: nobody would look again.
    if (this.has(weight)) return this.#wakeAt(now);
    // Also what may not be used for want of a valid lease: nobody is to be woken for it.
    this.#thaw(now);
    this.#wanted = Math.min(weight, this.limit.max);
    this.#source.want();
    const next = Math.min(this.#nextThawAt ?? never, this.#source.givesUpAt ?? never);
    if (next !== never) this.#wakeAt(next);
  }

  rest(): void {
    this.#wanted = 0;
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  get leased(): number {
    this.#leased -= this.#leaving.take(this.#clock.now());
    return this.#leased;
  }

  get lacking(): number {
    return Math.max(0, this.#wanted - this.#inHand);
  }

  get idle(): number {
    this.#thaw(this.#clock.now());
    return this.#inHand;
  }

  get owed(): number {
    return this.#owed + this.#leaving.count;
  }

  get leavesInMs(): number | undefined {
    const now = this.#clock.now();
    this.#leased -= this.#leaving.take(now);
    const next = Math.min(this.#leaving.nextAt ?? never, (this.#owed > 0 && this.#cooling.nextAt) || never);
    return next === never ? undefined : Math.max(0, next - now) + roundingMs;
  }

  get isProbing(): boolean {
    return this.#pause.isProbing;
  }

  grant(count: number): void {
    const kept = Math.min(count, this.#owed);
    this.#owed -= kept;
    this.#leased += count - kept;
    this.#inHand += count - kept;
    this.#onChange();
  }

  retire(count: number): void {
    this.#owed += count;
    this.#thaw(this.#clock.now());
  }

  changed(): void {
    this.#onChange();
  }

  /** What is left of a pause, in milliseconds; 0 when there is none. */
  get pausedForMs(): number {
    return Math.max(0, this.#pause.until - this.#clock.now());
  }

  /** Whether nobody shall wait any longer for a source that is out of reach. */
  get isLost(): boolean {
    return (this.#source.givesUpAt ?? never) <= this.#clock.now();
  }

  /** Has the source looked for again, though nobody waits for it. */
  seek(): void {
    this.#source.want();
  }

  /** How long the next request has to wait at least, as far as is known now. */
  waitMs(): number {
    const now = this.#clock.now();
    // Nobody knows when a probe is answered.
    const thawsAt = this.#pause.isOut ? now : (this.#nextThawAt ?? now);
    return Math.ceil(this.pausedForMs || Math.max(0, thawsAt - now));
  }

  get state(): BudgetState {
    const { max } = this.limit;
    const isLimited = max !== Number.POSITIVE_INFINITY;
    const used = isLimited
      ? Math.min(max, this.leased - this.#leaving.count - this.idle + this.#source.usedElsewhere)
      : 0;
    const left = max - used;
    const { pausedForMs } = this;
    return {
      used,
      left,
      freesInMs: left > 0 ? 0 : this.waitMs(),
      pausedUntil: pausedForMs > 0 ? this.#clock.wallTime() + pausedForMs : undefined,
      pausedBy: pausedForMs > 0 ? this.#pause.by : undefined,
    };
  }

  /** Drops its timer and gives its permits back. */
  async close(): Promise<void> {
    this.rest();
    await this.#source.close();
  }

  get #nextThawAt(): number | undefined {
    const next = this.#cooling.nextAt;
    return next === undefined ? undefined : next - this.#roundTrips.floorMs;
  }

  #thaw(now: number): void {
    const { floorMs } = this.#roundTrips;
    const taken = this.#cooling.take(now + floorMs + roundingMs);
    if (taken > 0) this.#cooledAt = Math.max(this.#cooledAt, now + floorMs);
    this.#inHand += taken;
    if (this.#owed > 0) this.#payOwed(Math.min(this.#owed, this.#inHand));
  }

  #payOwed(count: number): void {
    this.#owed -= count;
    this.#inHand -= count;
    if (this.#cooledAt <= this.#clock.now()) this.#leased -= count;
    else this.#leaving.add(count, this.#cooledAt);
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
