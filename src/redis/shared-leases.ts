import { randomUUID } from "node:crypto";
import type { Cancel, Clock } from "../clock.ts";
import type { Limit } from "../limits.ts";
import type { LeasedBudget, LeaseSource } from "../sharing.ts";
import { beat } from "./budget-script.ts";
import type { RedisCommands } from "./commands.ts";
import type { SharedDay } from "./shared-day.ts";

export interface SharedLeasesContext {
  readonly redis: RedisCommands;
  readonly clock: Clock;
  /** Shared by all processes; both keys of one budget in one slot of a cluster. */
  readonly key: string;
  readonly limit: Limit;
  readonly day: SharedDay;
  /** The part of the limit that is used while Redis is out of reach; 0 stands still. */
  readonly shareWhenLost: number;
}

interface Reply {
  readonly born: string;
  readonly grant: number;
  readonly give: number;
  readonly pausedForMs: number;
  /** `closed` while another process tries after a pause, `probe` when this one is to try. */
  readonly gate: "open" | "closed" | "probe";
  readonly dayTotal: number;
  readonly dayFreesInMs: number;
  readonly busyElsewhere: number;
  readonly pausedUntil: string;
}

const replyOf = (raw: unknown): Reply => {
  if (!Array.isArray(raw)) throw new TypeError("the budget script answered something else");
  const [born, grant, give, pausedForMs, gate, dayTotal, dayFreesInMs, busyElsewhere, pausedUntil] =
    raw.map(String);
  return {
    born: born ?? "",
    grant: Number(grant),
    give: Number(give),
    pausedForMs: Number(pausedForMs),
    gate: gate === "1" ? "closed" : gate === "2" ? "probe" : "open",
    dayTotal: Number(dayTotal),
    dayFreesInMs: Number(dayFreesInMs),
    busyElsewhere: Number(busyElsewhere),
    pausedUntil: pausedUntil ?? "",
  };
};

/** How long a process may use its permits without a word from the store, in milliseconds. */
export const aliveMs = (perMs: number): number => Math.min(1_000, Math.max(100, perMs / 20));

/**
 * The permits of one process out of a budget that many share through Redis.
 *
 * A heartbeat reports what is held, wanted and used, and brings permits, calls to give some back, and pauses. It
 * beats only while there is something to tell; between two beats calls cost no round trip.
 */
export class SharedLeases implements LeaseSource {
  readonly initial = 0;
  usedElsewhere = 0;
  readonly #context: SharedLeasesContext;
  readonly #id = randomUUID();
  readonly #aliveMs: number;
  readonly #block: number;
  #budget: LeasedBudget | undefined;
  #validUntil = Number.NEGATIVE_INFINITY;
  #heldBack = false;
  #born = "";
  #pauseSeen = "0";
  #pauseToTellMs = 0;
  #lostSince: number | undefined;
  #usedAt = Number.NEGATIVE_INFINITY;
  #isBeating = false;
  #isClosed = false;
  #timer: { readonly at: number; readonly cancel: Cancel } | undefined;
  #addShare: Cancel | undefined;

  constructor(context: SharedLeasesContext) {
    this.#context = context;
    this.#aliveMs = aliveMs(context.limit.perMs);
    this.#block = Math.ceil(context.limit.max / 20);
  }

  get isValid(): boolean {
    if (this.#lostSince !== undefined) return this.#context.shareWhenLost > 0;
    return !this.#heldBack && this.#context.clock.now() < this.#validUntil;
  }

  attach(budget: LeasedBudget): void {
    this.#budget = budget;
  }

  want(): void {
    this.#isClosed = false;
    const isFirst = this.#validUntil === Number.NEGATIVE_INFINITY && this.#lostSince === undefined;
    this.#beatIn(
      isFirst || (this.#budget?.leased === 0 && this.#timer === undefined) ? 0 : this.#aliveMs / 4,
    );
  }

  paused(ms: number): void {
    this.#pauseToTellMs = Math.max(this.#pauseToTellMs, ms);
    this.#heldBack = true;
    this.#beatIn(0);
  }

  used(): void {
    this.#usedAt = this.#context.clock.now();
    // The next block is asked for before the last one is used up.
    this.#beatIn(this.#budget?.idle === 0 ? 0 : this.#aliveMs / 2);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#addShare?.();
    this.#timer?.cancel();
    this.#timer = undefined;
    const budget = this.#budget;
    if (budget === undefined || (budget.leased === 0 && this.#context.day.unreported === 0)) return;
    budget.retire(budget.leased);
    await this.#beat();
  }

  #beatIn(ms: number): void {
    if (this.#isClosed || this.#isBeating) return;
    const { clock } = this.#context;
    const at = clock.now() + ms;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    // A process that has nothing left but leases may end.
    const idle = this.#budget?.waiters === 0 && this.#pauseToTellMs === 0;
    const cancel = clock.after(ms, () => this.#beat(), { idle });
    this.#timer = { at, cancel };
  }

  async #beat(): Promise<void> {
    const budget = this.#budget;
    if (budget === undefined || this.#isBeating) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isBeating = true;
    const { clock } = this.#context;
    const sentAt = clock.now();
    // No answer in time counts as none; the command itself is still waited for, so that beats never pile up.
    const cancelAlarm = clock.after(this.#aliveMs, () => this.#lose(budget), { idle: true });
    try {
      this.#restIfUnused(budget);
      const told = { used: this.#context.day.unreported, pauseMs: this.#pauseToTellMs };
      this.#pauseToTellMs = 0;
      const reply = await this.#ask(budget, told).catch((error: unknown) => {
        this.#pauseToTellMs = Math.max(this.#pauseToTellMs, told.pauseMs);
        throw error;
      });
      this.#context.day.heard(told.used, { total: reply.dayTotal, freesInMs: reply.dayFreesInMs });
      // What an answer says that was long on its way may be over; what is held is told again at once.
      if (clock.now() - sentAt < this.#aliveMs) this.#heed(budget, reply, sentAt);
    } catch {
      // Whatever the fault: no word from the store, which heals or stays away.
      this.#lose(budget);
    } finally {
      cancelAlarm();
      this.#isBeating = false;
      this.#next(budget);
      budget.changed();
    }
  }

  async #ask(
    budget: LeasedBudget,
    told: { readonly used: number; readonly pauseMs: number },
  ): Promise<Reply> {
    const { redis, key, limit, day } = this.#context;
    const { leased, owed, idle, lacking, waiters } = budget;
    const want = waiters > 0 ? Math.max(lacking, Math.min(waiters, limit.max - leased)) : 0;
    const reserve = idle === 0 && !this.#isClosed ? this.#block : 0;
    const numbers = [limit.max, limit.perMs, this.#aliveMs, day.max];
    const permits = [leased, leased - owed, idle, lacking, want, reserve];
    const report = [told.used, told.pauseMs, budget.isProbing ? 1 : 0];
    const values = [this.#id, this.#born, ...numbers, ...permits, ...report];
    return replyOf(await beat(redis, [`${key}:leases`, `${key}:day`], values));
  }

  #heed(budget: LeasedBudget, reply: Reply, sentAt: number): void {
    const { day } = this.#context;
    if (this.#born !== "" && this.#born !== reply.born) day.forgotten();
    this.#born = reply.born;
    this.#lostSince = undefined;
    this.#addShare?.();
    this.usedElsewhere = reply.busyElsewhere;
    this.#heldBack = reply.gate === "closed";
    if (reply.gate === "probe" && !budget.isProbing) budget.pause(0);
    if (reply.pausedForMs > 0 && reply.pausedUntil !== this.#pauseSeen) {
      this.#pauseSeen = reply.pausedUntil;
      budget.pause(reply.pausedForMs);
    }
    if (reply.give > 0) budget.retire(reply.give);
    this.#validUntil = sentAt + this.#aliveMs;
    if (reply.grant > 0) budget.grant(reply.grant);
  }

  /** Gives everything back when nothing was sent for a window. */
  #restIfUnused(budget: LeasedBudget): void {
    const unusedMs = this.#context.clock.now() - this.#usedAt;
    const isResting = budget.waiters === 0 && budget.idle === budget.leased;
    if (isResting && unusedMs > this.#context.limit.perMs) budget.retire(budget.leased);
  }

  #next(budget: LeasedBudget): void {
    const isIdle = budget.leased === 0 && budget.waiters === 0 && this.#context.day.unreported === 0;
    if (this.#pauseToTellMs > 0 && this.#lostSince === undefined) return this.#beatIn(0);
    if (!isIdle) this.#beatIn(budget.waiters > 0 ? this.#aliveMs / 4 : this.#aliveMs / 2);
  }

  /** No word from the store: the configured share is used alone, or nothing. */
  #lose(budget: LeasedBudget): void {
    const { clock, limit, shareWhenLost } = this.#context;
    if (this.#lostSince !== undefined || clock.now() < this.#validUntil) return;
    this.#lostSince = clock.now();
    if (shareWhenLost === 0) return budget.changed();
    const share = Math.floor(limit.max * shareWhenLost);
    if (budget.leased - budget.owed > share) budget.retire(budget.leased - budget.owed - share);
    // Others may have held more than their share: what is missing comes when that has cooled.
    const wasConnected = this.#validUntil !== Number.NEGATIVE_INFINITY;
    const waitMs = wasConnected ? limit.perMs + this.#aliveMs : 0;
    this.#addShare = clock.after(
      waitMs,
      () => {
        const missing = share - (budget.leased - budget.owed);
        if (this.#lostSince !== undefined && missing > 0) budget.grant(missing);
      },
      { idle: false },
    );
    budget.changed();
  }
}
