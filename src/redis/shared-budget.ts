import type { Limit } from "../options/limits.ts";
import type { DayCount, Gate, SharedBudget, SharingBudget } from "../options/shared-limits.ts";
import { latencyFloorFor, Permits } from "../rate-limit/permits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { BudgetReply, BudgetReport } from "./exchange.ts";

const dayMs = 86_400_000;

/** A daily count that many processes share: the store's last total, and the use here since Redis is unavailable. */
class RedisDay implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  #total = 0;
  #freesAt = 0;
  /** Use that the store does not know yet, and the part of it that an unanswered message tells. */
  unreported = 0;
  reporting = 0;

  constructor(name: string, max: number, clock: Clock) {
    this.name = name;
    this.max = max;
    this.#clock = clock;
  }

  get used(): number {
    return this.#total + this.unreported;
  }

  /** Also true once earlier use may have expired: the store decides. */
  has(weight: number): boolean {
    return this.used + weight <= this.max || this.#freesAt <= this.#clock.now();
  }

  /** The store counts what it grants. */
  add(): void {}

  resetsInMs(): number {
    return Math.max(0, this.#freesAt - this.#clock.now());
  }

  heard({ dayUsed, dayFreesInMs }: BudgetReply, reported: number): void {
    this.#total = dayUsed;
    this.unreported -= reported;
    this.reporting -= reported;
    this.#freesAt = this.#clock.now() + dayFreesInMs;
  }
}

/** What a store of shared limits offers to its budgets. */
export interface Store extends Gate {
  /** Sends a message that covers this budget. */
  tell(budget: RedisBudget): void;
  close(): Promise<void>;
}

/** One limit that processes share through Redis, as this process knows it. */
export class RedisBudget implements SharedBudget {
  readonly key: string;
  readonly limit: Limit;
  readonly day: RedisDay;
  readonly gate: Store;
  /** What this process may use alone while Redis is unavailable. */
  readonly #aloneMax: number;
  readonly #alone: Permits<this>;
  readonly floor;
  readonly #clock: Clock;
  #holder: SharingBudget | undefined;
  #last: BudgetReply | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #pauseSeen = 0;
  #pauseToTell = { ms: 0, by: "" };

  constructor(
    key: string,
    { name, limit, maxPerDay }: { readonly name: string; readonly limit: Limit; readonly maxPerDay: number },
    { gate, clock, share }: { readonly gate: Store; readonly clock: Clock; readonly share: number },
  ) {
    this.key = key;
    this.limit = limit;
    this.gate = gate;
    this.#clock = clock;
    this.day = new RedisDay(`${name}PerDay`, maxPerDay, clock);
    this.floor = latencyFloorFor(limit.windowMs);
    this.#aloneMax = Math.floor(limit.max * share);
    this.#alone = new Permits({ max: this.#aloneMax, windowMs: limit.windowMs }, clock);
  }

  get used(): number {
    const isFree = this.#clock.now() >= this.#heardAt + (this.#last?.freeInMs ?? 0);
    return isFree ? 0 : (this.#last?.used ?? 0);
  }

  get interactive(): number | undefined {
    const { interactive = -1 } = this.#last ?? {};
    return interactive < 0 || this.#ageMs > this.limit.windowMs ? undefined : interactive;
  }

  get #ageMs(): number {
    return this.#clock.now() - this.#heardAt;
  }

  attach(budget: SharingBudget): void {
    this.#holder = budget;
  }

  paused(ms: number, by: string): void {
    if (ms > this.#pauseToTell.ms) this.#pauseToTell = { ms, by };
    this.gate.tell(this);
  }

  close(): Promise<void> {
    return this.gate.close();
  }

  changed(): void {
    this.#holder?.changed();
  }

  /** When a request may go without Redis, at the earliest from `since` on; undefined if that is unknown. */
  aloneAt(weight: number, since: number): number | undefined {
    const now = this.#clock.now();
    if (now < since) return since;
    const amount = Math.min(weight, this.#aloneMax);
    return amount > 0 && this.#alone.inHand >= amount && this.day.has(weight) ? now : this.#alone.nextAt;
  }

  takeAlone(weight: number): void {
    this.#alone.take(Math.min(weight, this.#aloneMax), this);
    this.day.unreported += weight;
  }

  endAlone(weight: number, roundTripMs: number | undefined, wasSent: boolean): void {
    if (wasSent) return this.#alone.cool(weight, roundTripMs, this);
    this.#alone.putBack(Math.min(weight, this.#aloneMax), this);
    this.day.unreported -= weight;
  }

  report(): BudgetReport {
    const { max, windowMs } = this.limit;
    const isKnown = this.#ageMs < dayMs;
    const { ms: pauseMs, by: pausedBy } = this.#pauseToTell;
    this.#pauseToTell = { ms: 0, by: "" };
    const charge = this.day.unreported - this.day.reporting;
    this.day.reporting += charge;
    return {
      // JSON has no Infinity.
      max: Math.min(max, Number.MAX_SAFE_INTEGER),
      windowMs,
      dayMax: Math.min(this.day.max, Number.MAX_SAFE_INTEGER),
      floorMs: this.floor.floorMs,
      born: isKnown ? (this.#last?.born ?? "") : "",
      dayUsed: this.#last?.dayUsed ?? 0,
      ageMs: isKnown ? this.#ageMs : 0,
      charge,
      pauseMs,
      pausedBy,
    };
  }

  /** The report was not answered. */
  unheard({ pauseMs, pausedBy, charge }: BudgetReport): void {
    this.day.reporting -= charge;
    if (pauseMs > this.#pauseToTell.ms) this.#pauseToTell = { ms: pauseMs, by: pausedBy };
  }

  heard(reply: BudgetReply, { charge }: BudgetReport): void {
    this.#last = reply;
    this.#heardAt = this.#clock.now();
    this.day.heard(reply, charge);
    if (reply.pausedForMs <= 0 || reply.pausedUntil === this.#pauseSeen) return;
    this.#pauseSeen = reply.pausedUntil;
    this.#holder?.pause(reply.pausedForMs, reply.pausedBy);
  }
}
