import { randomUUID } from "node:crypto";
import type { Limit } from "../options/limits.ts";
import type { LostStore, PermitHolder, PermitSource } from "../options/shared-limits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import { type Beat, type BeatReply, beat } from "./budget-script.ts";
import type { RedisCommands } from "./commands.ts";
import { faultOf, type RedisFault, silence } from "./fault.ts";
import type { News } from "./news.ts";
import type { SharedDay } from "./shared-day.ts";

export interface SharedLeasesContext {
  readonly redis: RedisCommands;
  readonly news: News;
  readonly clock: Clock;
  /** The start of the budget's two keys, the same in all processes. Both keys are in one slot of a cluster. */
  readonly key: string;
  readonly limit: Limit;
  readonly day: SharedDay;
  /** While Redis is unavailable: the share of the limit to use; if it is 0, how long calls wait. */
  readonly whenLost: { readonly share: number; readonly maxMs: number };
}

/** How long permits are valid after a heartbeat to a nearby store, in milliseconds. */
export const aliveMs = (perMs: number): number => Math.min(1_000, Math.max(100, perMs / 20));

// A heartbeat and its successor take two round trips, with up to half a lease between them.
const roundTripsOfLease = 4;
const longestLeaseMs = 10_000;
// Interactive calls are served before background work of other processes that has waited less than ten windows longer.
const interactiveLead = 10;
// The effect of a slow answer fades within about twenty heartbeats.
const forgetting = 0.9;

/**
 * The permits that one process leases from a budget shared through Redis.
 *
 * A heartbeat reports permits held, wanted and used; its answer grants permits, calls some back, and announces pauses.
 * Heartbeats are sent only while there is something to report. Calls between two heartbeats cost no round trip.
 */
export class SharedLeases implements PermitSource {
  readonly initial = 0;
  readonly isShared = true;
  usedElsewhere = 0;
  interactiveElsewhere: number | undefined;
  readonly #context: SharedLeasesContext;
  readonly #id = randomUUID();
  readonly #channel: string;
  /** The longest recent round trip. */
  #roundTripMs = 0;
  #budget: PermitHolder | undefined;
  #validUntil = Number.NEGATIVE_INFINITY;
  #heldBack = false;
  #pauseSeen = 0;
  #pauseToTellMs = 0;
  #pausedBy = "";
  /** Whether a message arrived since the last heartbeat was sent. */
  #isNewsDue = false;
  #lostSince: number | undefined;
  #fault: RedisFault = silence(0);
  #usedAt = Number.NEGATIVE_INFINITY;
  /** Since when permits are lacking, if none was used after that. */
  #wantedAt = Number.NEGATIVE_INFINITY;
  #isBeating = false;
  #isClosed = false;
  #timer: { readonly at: number; readonly cancel: Cancel } | undefined;
  #addShare: Cancel | undefined;

  constructor(context: SharedLeasesContext) {
    this.#context = context;
    this.#channel = `${context.key}:news`;
  }

  /** How long permits are valid after a heartbeat; longer with a distant store. */
  get #aliveMs(): number {
    const { perMs } = this.#context.limit;
    return Math.max(aliveMs(perMs), Math.min(longestLeaseMs, roundTripsOfLease * this.#roundTripMs));
  }

  get isValid(): boolean {
    if (this.#lostSince !== undefined) return this.#context.whenLost.share > 0;
    return !this.#heldBack && !this.#context.day.isDoubtful && this.#context.clock.now() < this.#validUntil;
  }

  get lost(): LostStore | undefined {
    const { share, maxMs } = this.#context.whenLost;
    if (this.#lostSince === undefined) return undefined;
    const { what, cause, isLasting } = this.#fault;
    const then =
      share > 0 ? `"open" uses the share ${share}` : `"closed" sends nothing, calls wait up to maxLostMs`;
    const why = `Redis, which shares the limits, ${what}; onLost of redisLimits decides: ${then}`;
    const givesUpAt = share > 0 ? undefined : this.#lostSince + (isLasting ? 0 : maxMs);
    return { why, cause, givesUpAt };
  }

  attach(budget: PermitHolder): void {
    this.#budget = budget;
  }

  want(): void {
    this.#isClosed = false;
    if (this.#wantedAt <= this.#usedAt) this.#wantedAt = this.#context.clock.now();
    const isFirst = this.#validUntil === Number.NEGATIVE_INFINITY && this.#lostSince === undefined;
    const isNow = isFirst || (this.#budget?.leased === 0 && this.#timer === undefined);
    this.#beatIn(isNow ? 0 : this.#aliveMs / 4);
  }

  paused(ms: number, by: string): void {
    if (ms > this.#pauseToTellMs) [this.#pauseToTellMs, this.#pausedBy] = [ms, by];
    this.#heldBack = true;
    this.#beatIn(0);
  }

  used(): void {
    this.#usedAt = this.#context.clock.now();
    // Ask for the next block before this one is used up.
    this.#beatIn(this.#budget?.idle === 0 ? 0 : this.#aliveMs / 2);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#context.news.leave(this.#channel, this.#hear);
    this.#addShare?.();
    this.#timer?.cancel();
    this.#timer = undefined;
    const budget = this.#budget;
    if (budget === undefined || (budget.leased === 0 && this.#context.day.unreported === 0)) return;
    budget.retire(budget.leased);
    // Some clients queue a command until Redis is back, possibly forever.
    await new Promise<void>((resolve) => {
      const giveUp = this.#context.clock.after(this.#aliveMs, resolve);
      void this.#beat().then(giveUp).then(resolve);
    });
  }

  readonly #hear = (message: string): void => {
    const budget = this.#budget;
    const isLost = message === "lost" && this.#context.day.report.usedInDay > 0;
    if (budget === undefined || (budget.leased === 0 && budget.waiters === 0 && !isLost)) return;
    // Send nothing until the store's answer says how long the pause is.
    if (message === "pause") this.#heldBack = true;
    else if (message !== this.#id && !isLost) return;
    this.#isNewsDue = true;
    this.#beatIn(0);
  };

  #beatIn(ms: number): void {
    if (this.#isClosed || this.#isBeating) return;
    const { clock } = this.#context;
    const at = clock.now() + ms;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    // Leases alone do not keep the process alive.
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
    this.#isNewsDue = false;
    const { clock, news } = this.#context;
    if (!this.#isClosed) news.listen(this.#channel, this.#hear);
    const sentAt = clock.now();
    const aliveMs = this.#aliveMs;
    // A late answer counts as none; the next heartbeat still waits for the command, so heartbeats never pile up.
    const cancelAlarm = clock.after(aliveMs, () => this.#lose(budget, silence(aliveMs)), { idle: true });
    try {
      this.#restIfUnused(budget);
      const told = { day: this.#context.day.report, pauseMs: this.#pauseToTellMs };
      this.#pauseToTellMs = 0;
      const reply = await this.#ask(budget, told).catch((error: unknown) => {
        this.#pauseToTellMs = Math.max(this.#pauseToTellMs, told.pauseMs);
        throw error;
      });
      this.#context.day.heard(told.day, reply);
      const roundTripMs = clock.now() - sentAt;
      this.#roundTripMs = Math.max(roundTripMs, this.#roundTripMs * forgetting);
      // A late answer may be outdated: ignore it. The next heartbeat reports what is really held.
      if (roundTripMs < aliveMs) this.#heed(budget, reply, sentAt + aliveMs);
    } catch (error) {
      // Any fault counts as a lost store.
      this.#lose(budget, faultOf(error));
    } finally {
      cancelAlarm();
      this.#isBeating = false;
      this.#next(budget);
      budget.changed();
    }
  }

  async #ask(
    budget: PermitHolder,
    told: { readonly day: SharedDay["report"]; readonly pauseMs: number },
  ): Promise<BeatReply> {
    const { redis, clock, key, limit } = this.#context;
    const { leased: held, owed, idle, lacking: need, waiters, allowanceMs, interactive } = budget;
    const isAtWork = !this.#isClosed && (waiters > 0 || !this.#isUnused);
    if (need === 0) this.#wantedAt = Number.NEGATIVE_INFINITY;
    const leadMs = interactive.waiting > 0 ? interactiveLead * limit.perMs : 0;
    const hungryMs = need === 0 ? 0 : clock.now() - Math.max(this.#usedAt, this.#wantedAt) + leadMs;
    const mine: Beat = {
      process: this.#id,
      max: limit.max,
      windowMs: limit.perMs,
      aliveMs: this.#aliveMs,
      ...told.day,
      held,
      kept: held - owed,
      idle,
      // Moving a permit makes it unusable for about as long: only permits unused for longer are spare.
      spare: budget.spareFor(Math.max(allowanceMs, this.#aliveMs / 4)),
      need,
      want: waiters > 0 ? Math.max(need, Math.min(waiters, limit.max - held)) : 0,
      urgent: need > 0 ? Math.min(interactive.waiting, limit.max - held) : 0,
      ahead: idle === 0 && isAtWork ? Math.ceil(limit.max / 20) : 0,
      hungryMs: Math.max(0, Math.round(hungryMs)),
      interactive: interactive.held,
      interactiveMs: Math.round(interactive.ms),
      allowanceMs: Math.round(allowanceMs),
      pauseMs: told.pauseMs,
      pausedBy: this.#pausedBy,
      isProbing: budget.isProbing,
      channel: this.#channel,
    };
    const reply = await beat(redis, [`${key}:leases`, `${key}:day`], [JSON.stringify(mine)]);
    // The script returns this shape.
    return JSON.parse(String(reply)) as BeatReply;
  }

  #heed(budget: PermitHolder, reply: BeatReply, validUntil: number): void {
    this.#lostSince = undefined;
    this.#addShare?.();
    this.usedElsewhere = reply.busyElsewhere;
    this.interactiveElsewhere = reply.interactive > 0 ? reply.interactive : undefined;
    // The heartbeat was sent before the message, so its answer does not cover it.
    this.#heldBack = reply.gate === "closed" || (this.#heldBack && this.#isNewsDue);
    if (reply.gate === "probe" && !budget.isProbing) budget.pause(0);
    if (reply.pausedForMs > 0 && reply.pausedUntil !== this.#pauseSeen) {
      this.#pauseSeen = reply.pausedUntil;
      budget.pause(reply.pausedForMs, reply.pausedBy);
    }
    if (reply.give > 0) budget.retire(reply.give);
    this.#validUntil = validUntil;
    if (reply.grant > 0) budget.grant(reply.grant);
  }

  /** Gives all permits back when nothing was sent for a window. */
  #restIfUnused(budget: PermitHolder): void {
    const isAllIdle = budget.idle === budget.leased;
    if (isAllIdle && budget.waiters === 0 && this.#isUnused) budget.retire(budget.leased);
  }

  /** Whether nothing was sent for a window. */
  get #isUnused(): boolean {
    return this.#context.clock.now() - this.#usedAt > this.#context.limit.perMs;
  }

  #next(budget: PermitHolder): void {
    const isIdle = budget.leased === 0 && budget.waiters === 0 && this.#context.day.unreported === 0;
    const isUrgent = this.#pauseToTellMs > 0 && this.#lostSince === undefined;
    if (isUrgent || this.#isNewsDue) return this.#beatIn(0);
    if (isIdle) return;
    // Other processes wait for these permits: report them as soon as they are free.
    const leavesInMs = budget.leavesInMs ?? Number.POSITIVE_INFINITY;
    this.#beatIn(Math.min(leavesInMs, budget.waiters > 0 ? this.#aliveMs / 4 : this.#aliveMs / 2));
  }

  /** Without the store, the process uses its configured share, or nothing. */
  #lose(budget: PermitHolder, fault: RedisFault): void {
    const { clock, limit, whenLost } = this.#context;
    this.#fault = fault;
    if (this.#lostSince !== undefined || clock.now() < this.#validUntil) return;
    this.#lostSince = clock.now();
    if (whenLost.share === 0) return budget.changed();
    const share = Math.floor(limit.max * whenLost.share);
    if (budget.leased - budget.owed > share) budget.retire(budget.leased - budget.owed - share);
    // Other processes may have held more than their share: add the rest here when those permits have cooled down.
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
