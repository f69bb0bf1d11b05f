import type { Cancel, Clock } from "../clock.ts";
import type { BudgetState, Limit } from "../limits.ts";
import type { Resource } from "./lanes.ts";
import type { Lease, LeaseSource } from "./leases.ts";
import { CoolingPermits } from "./window.ts";

// A service that counts whole milliseconds may see a window up to one shorter; and no two clocks run alike.
const marginMs = (perMs: number): number => 1 + perMs * 0.0001;

/**
 * One limit of the service: hands out permits, takes them back a window after the answer, and stands still while
 * the service has asked to wait.
 */
export class Budget implements Resource {
  readonly name: string;
  readonly limit: Limit;
  waiters = 0;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #openLeases: () => LeaseSource;
  #source: LeaseSource | undefined;
  #leases: Lease[] = [];
  #leased: number;
  #inHand: number;
  #isLeasing = false;
  readonly #cooling = new CoolingPermits();
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #probe: "none" | "due" | "out" = "none";
  #alarm: { readonly at: number; readonly cancel: Cancel } | undefined;

  constructor(
    name: string,
    limit: Limit,
    context: { readonly clock: Clock; readonly onChange: () => void; readonly openLeases: () => LeaseSource },
  ) {
    this.name = name;
    this.limit = limit;
    this.#clock = context.clock;
    this.#onChange = context.onChange;
    this.#openLeases = context.openLeases;
    // The first block is in hand before its lease is registered: nobody else can have used the budget yet.
    this.#inHand = Math.min(limit.max, Math.max(this.#block, 25));
    this.#leased = this.#inHand;
  }

  has(weight: number): boolean {
    const now = this.#clock.now();
    if (now < this.#pausedUntil || this.#probe === "out") return false;
    this.#inHand += this.#cooling.take(now);
    return this.#inHand >= Math.min(weight, this.limit.max);
  }

  take(weight: number): void {
    this.#inHand -= Math.min(weight, this.limit.max);
    if (this.#probe === "due") this.#probe = "out";
  }

  /** The request never left: its permits are free at once. */
  refund(weight: number): void {
    this.#inHand += Math.min(weight, this.limit.max);
    if (this.#probe === "out") this.#probe = "due";
    this.#onChange();
  }

  /** The request was answered, or nobody knows: its permits come back when no window can hold both uses. */
  settle(weight: number): void {
    const { max, perMs } = this.limit;
    if (this.#probe === "out") this.#probe = "none";
    if (max === Number.POSITIVE_INFINITY) return this.#onChange();
    const windows = Math.max(1, weight / max);
    this.#cooling.add(Math.min(weight, max), this.#clock.now() + perMs * windows + marginMs(perMs));
    this.#onChange();
  }

  /** Stands still for `ms`; then one request goes first, and the rest once it is through. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + ms);
    this.#probe = "due";
  }

  want(weight: number): void {
    const now = this.#clock.now();
    if (now < this.#pausedUntil) return this.#wakeAt(this.#pausedUntil);
    if (this.#probe === "out") return;
    if (this.#leased < this.limit.max) this.#lease(Math.min(weight, this.limit.max) - this.#inHand);
    const next = this.#cooling.nextAt;
    if (next !== undefined) this.#wakeAt(next);
  }

  /** How long `weight` has to wait at least, as far as is known now. */
  waitMs(): number {
    const now = this.#clock.now();
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    return Math.max(0, (this.#cooling.nextAt ?? now) - now);
  }

  get isPaused(): boolean {
    return this.#clock.now() < this.#pausedUntil;
  }

  get state(): BudgetState {
    const now = this.#clock.now();
    this.#inHand += this.#cooling.take(now);
    const used = this.#leased - this.#inHand;
    const left = this.limit.max - used;
    const pausedForMs = this.#pausedUntil - now;
    return {
      used,
      left,
      freesInMs: left > 0 ? 0 : this.waitMs(),
      pausedUntil: pausedForMs > 0 ? this.#clock.wallTime() + pausedForMs : undefined,
    };
  }

  /** Drops its timer. */
  close(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  get #block(): number {
    return Math.ceil(this.limit.max / 20);
  }

  #lease(missing: number): void {
    if (this.#isLeasing) return;
    this.#isLeasing = true;
    const weight = Math.min(Math.max(missing, this.#block), this.limit.max - this.#leased);
    this.#askFor(weight)
      .then((lease) => {
        this.#leases.push(lease);
        this.#leased += lease.weight;
        this.#inHand += lease.weight;
      })
      .finally(() => {
        this.#isLeasing = false;
        this.#onChange();
      });
  }

  async #askFor(weight: number): Promise<Lease> {
    if (this.#source === undefined) {
      this.#source = this.#openLeases();
      this.#leases.push(await this.#source.lease(this.#leased));
    }
    return this.#source.lease(weight);
  }

  #wakeAt(at: number): void {
    if (this.#alarm !== undefined && this.#alarm.at <= at && this.#alarm.at > this.#clock.now()) return;
    this.#alarm?.cancel();
    const cancel = this.#clock.after(at - this.#clock.now(), () => {
      this.#alarm = undefined;
      this.#onChange();
    });
    this.#alarm = { at, cancel };
  }
}
