import type { Limit } from "../options/limits.ts";
import type { Clock } from "../runtime/clock.ts";
import { IdleMinimum } from "./idle-minimum.ts";
import { type LatencyFloor, latencyFloorFor, mostAllowance } from "./latency-floor.ts";
import { type Holding, PermitCooldown } from "./permit-cooldown.ts";

// A service that counts whole milliseconds may see a window up to one shorter; and no two clocks run alike.
const marginMs = (perMs: number): number => 1 + perMs * 0.0001;

// A timer set for the moment at which a permit is back must find it back.
const roundingMs = 0.001;
const never = Number.POSITIVE_INFINITY;

/** The permits of one budget in this process: in hand, in use, or cooling until a window after the answer. */
export class Permits {
  readonly #limit: Limit;
  readonly #clock: Clock;
  #leased: number;
  #inHand: number;
  /** Permits that are given up as soon as they have cooled. */
  #owed = 0;
  /** Permits given up, which nobody else may have before the allowance for this process's latency is over. */
  readonly #leaving = new PermitCooldown();
  readonly #cooling = new PermitCooldown();
  /** By then every permit in hand has cooled in full. */
  #cooledAt = Number.NEGATIVE_INFINITY;
  readonly #latency: LatencyFloor;
  readonly #idleMinimum = new IdleMinimum();

  constructor(limit: Limit, clock: Clock, initial: number) {
    this.#limit = limit;
    this.#clock = clock;
    this.#leased = initial;
    this.#inHand = initial;
    this.#latency = latencyFloorFor(limit.perMs);
  }

  /** Permits leased now: in hand, in use or cooling. */
  get leased(): number {
    this.#leased -= this.#leaving.take(this.#clock.now());
    return this.#leased;
  }

  /** Permits that may be used, as of the last `thaw`. */
  get inHand(): number {
    return this.#inHand;
  }

  /** Permits that were called back and leave as they cool. */
  get owed(): number {
    return this.#owed + this.#leaving.count;
  }

  /** Permits in use, or cooling for this process itself. */
  get used(): number {
    // First: it pays what is owed, which counts no longer.
    this.thaw(this.#clock.now());
    return this.leased - this.#leaving.count - this.#inHand;
  }

  /** How much sooner than a window after the answer a permit comes back, by what is known of the way. */
  get allowanceMs(): number {
    return this.#latency.floorMs;
  }

  /** In how many milliseconds the next of those that leave are gone; undefined when none leaves. */
  get leavesInMs(): number | undefined {
    const now = this.#clock.now();
    this.#leased -= this.#leaving.take(now);
    const next = Math.min(this.#leaving.nextAt ?? never, (this.#owed > 0 && this.#cooling.nextAt) || never);
    return next === never ? undefined : Math.max(0, next - now) + roundingMs;
  }

  /** When the next permit comes back, which may be by now; undefined when none is cooling. */
  get nextAt(): number | undefined {
    const next = this.#cooling.nextAt;
    return next === undefined ? undefined : next - this.allowanceMs;
  }

  /**
   * In how long `amount` permits have come free at the earliest, were all of the limit's here: first those that nobody
   * uses, then those that cool, then those in use, and a window later all of them again.
   */
  readyInMs(amount: number): number {
    const { max, perMs } = this.#limit;
    if (max === never) return 0;
    const now = this.#clock.now();
    const free = max - this.used;
    const rounds = Math.max(0, Math.ceil(amount / max) - 1);
    const lacking = amount - rounds * max - free;
    if (lacking <= 0) return rounds * perMs;
    const backAt = this.#cooling.backAt(lacking + this.#owed);
    return rounds * perMs + (backAt === undefined ? perMs : Math.max(0, backAt - now)) - this.allowanceMs;
  }

  /** Of the permits in hand, as of the last `thaw`, those that were not needed for `ms`. */
  unneededFor(ms: number): number {
    return this.#idleMinimum.over(ms, { level: this.#inHand, now: this.#clock.now() });
  }

  take(amount: number): void {
    this.#inHand -= amount;
    this.#idleMinimum.fell(this.#inHand);
  }

  /** The request never left: its permits are free at once. */
  putBack(amount: number): void {
    this.#inHand += amount;
  }

  /**
   * The request was answered, or nobody knows (`roundTripMs` undefined): its permits come back when no window can hold
   * both uses.
   *
   * @param weight - a batch larger than the limit keeps all permits for as many windows as it fills.
   */
  cool(weight: number, roundTripMs: number | undefined, holding?: Holding): void {
    const { max, perMs } = this.#limit;
    if (max === never) return holding?.add(-weight);
    const now = this.#clock.now();
    if (roundTripMs !== undefined) this.#latency.add(roundTripMs, now);
    // Without an answer nothing is known of when it was counted: the allowance is added here, to be none.
    const extraMs = roundTripMs === undefined ? perMs * mostAllowance : 0;
    const windows = Math.max(1, weight / max);
    const until = now + perMs * windows + marginMs(perMs) + extraMs;
    this.#cooling.add(Math.min(weight, max), until, holding);
  }

  grant(count: number): void {
    const kept = Math.min(count, this.#owed);
    this.#owed -= kept;
    this.#leased += count - kept;
    this.#inHand += count - kept;
  }

  retire(count: number): void {
    this.#owed += count;
    this.thaw(this.#clock.now());
  }

  /** Takes in hand what has cooled by `now`. */
  thaw(now: number): void {
    const { allowanceMs } = this;
    const taken = this.#cooling.take(now + allowanceMs + roundingMs);
    if (taken > 0) this.#cooledAt = Math.max(this.#cooledAt, now + allowanceMs);
    this.#inHand += taken;
    if (this.#owed > 0) this.#payOwed(Math.min(this.#owed, this.#inHand), now);
  }

  #payOwed(count: number, now: number): void {
    this.#owed -= count;
    this.#inHand -= count;
    this.#idleMinimum.fell(this.#inHand);
    if (this.#cooledAt <= now) this.#leased -= count;
    else this.#leaving.add(count, this.#cooledAt);
  }
}
