import type { Limit } from "../options/limits.ts";
import type { LostStore, SharedBudget, SharingBudget } from "../options/shared-limits.ts";
import { dayMs, latencyFloorFor, Permits } from "../rate-limit/permits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { BudgetMessage, BudgetReply, LastReply, Trip } from "./messages.ts";

const never = Number.POSITIVE_INFINITY;

/**
 * What applies while the store is unavailable: the share of each limit to use, or, with share 0, how long calls wait.
 */
export interface WhenLost {
  readonly share: number;
  readonly maxMs: number;
}

/** What a budget needs from the store of its process. */
interface BudgetStore {
  readonly clock: Clock;
  readonly whenLost: WhenLost;
  readonly lost: LostStore | undefined;
  /** The time from which permits used before the loss have cooled down in every process. */
  aloneFrom(windowMs: number): number;
  close(): Promise<void>;
}

/** One limit that processes share through a store, and its daily count, as far as this process knows them. */
export class FleetBudget implements SharedBudget {
  readonly key: string;
  readonly name: string;
  readonly limit: Limit;
  /** The limit for any 24 hours. */
  readonly max: number;
  readonly gateOf: SharedBudget["gateOf"];
  /** The least time that a round trip to the service takes, as measured so far. */
  readonly floor;
  readonly #store: BudgetStore;
  readonly #clock: Clock;
  #budget: SharingBudget | undefined;
  #last: LastReply | undefined;
  /** The pause that the store does not know yet. */
  #pause: BudgetMessage["pause"];
  /** The permits that this process may use while the store is unavailable. */
  readonly #aloneMax: number;
  readonly #alone: Permits<this>;
  /** Whether the process has used the budget without the store since its last reply. */
  #wasAlone = false;
  /** The daily use that the store does not know yet. */
  #unreported = 0;

  constructor(
    { key, name, limit, max, gateOf }: Pick<FleetBudget, "key" | "name" | "limit" | "max" | "gateOf">,
    store: BudgetStore,
  ) {
    const { clock, whenLost } = store;
    this.key = key;
    this.name = name;
    this.limit = limit;
    this.max = max;
    this.gateOf = gateOf;
    this.floor = latencyFloorFor(limit.windowMs);
    this.#store = store;
    this.#clock = clock;
    // 0 × Infinity, where there is no limit, would be NaN.
    this.#aloneMax = whenLost.share && Math.floor(limit.max * whenLost.share);
    this.#alone = new Permits({ max: this.#aloneMax, windowMs: limit.windowMs }, clock);
  }

  get lost(): LostStore | undefined {
    return this.#store.lost;
  }

  get inUse(): number {
    const { used, freeInMs } = this.#last ?? { used: 0, freeInMs: 0 };
    return freeInMs > this.#ageMs ? used : 0;
  }

  get interactive(): number | undefined {
    return this.#ageMs > this.limit.windowMs ? undefined : this.#last?.interactive;
  }

  get used(): number {
    return (this.#last?.dayUsed ?? 0) + this.#unreported;
  }

  /** Also true once earlier use may have expired, because the store then decides. */
  has(weight: number): boolean {
    return this.used + weight <= this.max || this.resetsInMs() === 0;
  }

  /** Does nothing, because the store counts what it grants. */
  add(): void {}

  resetsInMs(): number {
    return Math.max(0, (this.#last?.dayFreesInMs ?? 0) - this.#ageMs);
  }

  get #ageMs(): number {
    return this.#clock.now() - (this.#last?.heardAt ?? Number.NEGATIVE_INFINITY);
  }

  attach(budget: SharingBudget): void {
    this.#budget = budget;
  }

  paused(ms: number, by: string): void {
    const until = this.#clock.now() + ms;
    if (until > (this.#pause?.until ?? 0)) this.#pause = { until, by };
  }

  get hasUnreportedPause(): boolean {
    return this.#pause !== undefined;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  changed(): void {
    this.#budget?.changed();
  }

  /** When a request may go without the store; `Infinity` if that is unknown or not allowed. */
  aloneAt(weight: number): number {
    if (this.#aloneMax === 0) return never;
    const now = this.#clock.now();
    const pausedUntil = now + (this.#budget?.pausedForMs ?? 0);
    const since = Math.max(this.#store.aloneFrom(this.limit.windowMs), pausedUntil);
    const isFree = this.#alone.idle >= Math.min(weight, this.#aloneMax) && this.has(weight);
    return now < since || isFree ? since : (this.#alone.backAt(1) ?? never);
  }

  takeAlone(weight: number): void {
    this.#wasAlone = true;
    this.#alone.take(Math.min(weight, this.#aloneMax), this);
    this.#unreported += weight;
  }

  endAlone(weight: number, roundTripMs: number | undefined, wasSent: boolean): void {
    if (wasSent) return this.#alone.cool(weight, roundTripMs, this);
    this.#alone.take(-Math.min(weight, this.#aloneMax), this);
    this.#unreported -= weight;
  }

  /** Creates the budget's part of a message. `heard` takes the reply. */
  report() {
    const { max, windowMs } = this.limit;
    const pause = this.#pause;
    const wasAlone = this.#wasAlone;
    // Never report a negative charge: a message that is applied twice would make the daily count too low. Returned use
    // offsets later use instead.
    const charge = Math.max(0, this.#unreported);
    const message: BudgetMessage = {
      max: Math.min(max, Number.MAX_SAFE_INTEGER),
      windowMs,
      dayMax: this.max,
      floorMs: this.floor.floorMs,
      last: this.#ageMs < dayMs ? this.#last : undefined,
      wasAlone,
      charge,
      pause,
    };
    const heard = (reply: BudgetReply, { sentAt, heardAt }: Trip): void => {
      this.#last = { ...reply, sentAt, heardAt };
      this.#unreported -= charge;
      if (wasAlone) this.#wasAlone = false;
      if (this.#pause === pause) this.#pause = undefined;
      const pausedForMs = reply.pausedForMs - this.#ageMs;
      if (pausedForMs > 0) this.#budget?.pause(pausedForMs, reply.pausedBy);
    };
    return { message, heard };
  }
}
