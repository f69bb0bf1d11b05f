import type { BudgetState, Limit } from "../options/limits.ts";
import type { LeasedBudget, LeaseSource } from "../options/shared-limits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { Kind, Passage, Resource } from "./lane.ts";
import { Pause } from "./pause.ts";
import { Permits } from "./permits.ts";

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
  readonly #permits: Permits;
  /** Of the permits in hand, what is kept for requests that wait for something else. */
  #kept = 0;
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
    this.#permits = new Permits(limit, context.clock, this.#source.initial);
    this.#source.attach(this);
  }

  has(weight: number): boolean {
    const now = this.#clock.now();
    if (now < this.#pause.until || this.#pause.isOut || !this.#source.isValid) return false;
    this.#permits.thaw(now);
    return this.#permits.inHand >= this.#most(weight);
  }

  take(weight: number, by: Passage): void {
    this.#permits.take(weight);
    this.#pause.took(by);
    this.#source.used();
  }

  /** The request never left: its permits are free at once. */
  refund(weight: number, by: Passage): void {
    this.#permits.putBack(weight);
    this.#pause.refunded(by);
  }

  /**
   * The request was answered, or nobody knows (`roundTripMs` undefined): its permits come back when no window can
   * hold both uses.
   */
  settle(weight: number, by: Passage, roundTripMs: number | undefined): void {
    this.#pause.settled(by);
    this.#permits.cool(weight, roundTripMs, by.lane.kind);
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
    // As of before that question: what comes free from then on must be found cooling, or nobody would be woken for it.
    // Asked for here too, lest somebody is woken for what may not be used for want of a valid lease.
    this.#permits.thaw(now);
    this.#wanted = this.#most(weight);
    this.#source.want();
    const next = Math.min(this.#permits.nextAt ?? never, this.#source.givesUpAt ?? never);
    if (next !== never) this.#wakeAt(next);
  }

  keep(amount: number): void {
    this.#kept = amount;
  }

  rest(): void {
    this.#wanted = 0;
    this.#kept = 0;
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  get leased(): number {
    return this.#permits.leased;
  }

  get lacking(): number {
    return Math.max(0, this.#wanted - this.#permits.inHand);
  }

  get idle(): number {
    this.#permits.thaw(this.#clock.now());
    return Math.max(0, this.#permits.inHand - this.#kept);
  }

  spareFor(ms: number): number {
    const { idle } = this;
    return this.waiters === 0 ? idle : Math.min(idle, this.#permits.unneededFor(ms));
  }

  readyInMs(amount: number, each: number): number {
    // Nobody knows when a probe is answered, nor when a source that says nothing is heard again.
    if (this.#pause.isOut || !this.#source.isValid) return never;
    const comesInMs = Math.max(0, this.#source.comesAt - this.#clock.now());
    return Math.max(this.pausedForMs, this.#permits.readyInMs(amount, each, comesInMs));
  }

  usedBy(kind: Kind): number {
    return this.#permits.backWithin(never, kind);
  }

  backWithin(ms: number, kind?: Kind): number {
    return this.#permits.backWithin(ms, kind);
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
    const thawsAt = this.#pause.isOut ? now : (this.#permits.nextAt ?? now);
    return Math.ceil(this.pausedForMs || Math.max(0, thawsAt - now));
  }

  get state(): BudgetState {
    const { max } = this.limit;
    const isLimited = max !== Number.POSITIVE_INFINITY;
    const used = isLimited ? Math.min(max, this.#permits.used + this.#source.usedElsewhere) : 0;
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

  #most(weight: number): number {
    return Math.min(weight, this.limit.max);
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
