import { randomUUID } from "node:crypto";
import type { Limit } from "../options/limits.ts";
import type { LostStore, SharedBudget, SharingBudget } from "../options/shared-limits.ts";
import { LatencyFloor, latencyFloorFor, Permits } from "../rate-limit/permits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { RedisCommands } from "./commands.ts";
import { faultOf, type RedisFault, silence, silenceMs } from "./fault.ts";
import { type BudgetReply, type PartReply, replyOf } from "./replies.ts";
import { exchange } from "./take-script.ts";

const dayMs = 86_400_000;
const never = Number.POSITIVE_INFINITY;

/** A part of a message: of requests of one kind. */
export interface Part {
  readonly isInteractive: boolean;
  /** The budgets that they spend, the narrowest last. */
  readonly budgets: readonly RedisBudget[];
  readonly message: object;
  /** Takes the reply; undefined if Redis failed. */
  heard(reply: PartReply | undefined): void;
  /** No reply has come in time: it may ask again. */
  expired(): void;
}

/** While Redis is unavailable: the share of each limit to use; if it is 0, how long calls wait. */
interface WhenLost {
  readonly share: number;
  readonly maxMs: number;
}

/**
 * The Redis behind the limits of this process. What becomes known together, of all kinds of requests, goes in one
 * message.
 */
export class RedisStore {
  readonly clock: Clock;
  // A part of a UUID is enough to tell processes apart, and all permits in Redis name theirs.
  readonly process = randomUUID().slice(0, 13);
  /** How many requests Redis was asked for. */
  count = 0;
  readonly whenLost: WhenLost;
  /** The part of a round trip to Redis that is certain to pass. */
  readonly floor = new LatencyFloor(10_000, { slackMs: 15, mostMs: silenceMs / 2 });
  /** The gates with something to report in the next message: requests that wait, are in flight, or have ended. */
  readonly gates = new Set<{ parts(): readonly Part[] }>();
  /** By their keys. */
  readonly budgets = new Map<string, RedisBudget>();
  readonly #redis: RedisCommands;
  #lostSince: number | undefined;
  #fault: RedisFault = silence;
  #wasConnected = false;
  #isFlushing = false;
  #next: { readonly at: number; readonly cancel: Cancel } | undefined;
  readonly #underWay = new Set<Promise<void>>();

  constructor(redis: RedisCommands, whenLost: WhenLost, clock: Clock) {
    this.#redis = redis;
    this.whenLost = whenLost;
    this.clock = clock;
  }

  get lost(): LostStore | undefined {
    const { share, maxMs } = this.whenLost;
    if (this.#lostSince === undefined) return undefined;
    const { what, cause, isLasting } = this.#fault;
    const then =
      share > 0
        ? `"open", this process uses ${share} of each limit`
        : `"closed", calls wait up to maxLostMs and then fail`;
    const why = `Redis, which shares the limits, ${what}. Because onLost is ${then}`;
    const givesUpAt = share > 0 ? undefined : this.#lostSince + (isLasting ? 0 : maxMs);
    return { why, cause, givesUpAt };
  }

  /** Since when what was used before the loss has cooled down, here and elsewhere. */
  aloneSince(windowMs: number): number {
    return (this.#lostSince ?? this.clock.now()) + (this.#wasConnected ? windowMs : 0);
  }

  /** Sends a message after so many milliseconds, or with the one before; 0: with all that becomes known in this turn. */
  sendIn(inMs: number): void {
    if (inMs > 0) {
      const at = this.clock.now() + inMs;
      if (this.#next !== undefined && this.#next.at <= at) return;
      this.#next?.cancel();
      this.#next = { at, cancel: this.clock.after(inMs, () => this.sendIn(0)) };
      return;
    }
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const sent = Promise.resolve()
      .then(() => this.#send())
      .finally(() => this.#underWay.delete(sent));
    this.#underWay.add(sent);
  }

  async #send(): Promise<void> {
    this.#isFlushing = false;
    this.#next?.cancel();
    this.#next = undefined;
    const sentAt = this.clock.now();
    const parts = [...this.gates].flatMap((gate) => gate.parts());
    if (parts.length === 0) return;
    // Interactive requests are asked for first.
    parts.sort((one, other) => Number(other.isInteractive) - Number(one.isInteractive));
    const budgets = [...new Set(parts.flatMap((part) => part.budgets))];
    const reports = budgets.map((budget) => budget.report());
    const message = JSON.stringify({
      process: this.process,
      redisFloorMs: this.floor.floorMs,
      budgets: reports.map((report) => report.message),
      parts: parts.map(({ message: part, budgets: spent }) => ({
        ...part,
        // Their places, from 1.
        budgets: spent.map((budget) => budgets.indexOf(budget) + 1),
      })),
    });
    const giveUp = (): void => {
      this.#lose(parts, silence);
      this.#changed();
    };
    const cancelAlarm = this.clock.after(silenceMs, giveUp, { idle: true });
    try {
      const keys = budgets.map(({ key }) => key);
      const reply = replyOf(await exchange(this.#redis, keys, [message]));
      this.#lostSince = undefined;
      this.#wasConnected = true;
      this.floor.add(this.clock.now() - sentAt, this.clock.now());
      for (const [at, { heard }] of reports.entries()) heard(reply.budgets[at]);
      for (const [at, part] of parts.entries()) part.heard(reply.parts[at]);
    } catch (error) {
      for (const one of [...reports, ...parts]) one.heard(undefined);
      this.#lose(parts, faultOf(error));
    } finally {
      cancelAlarm();
      this.#changed();
    }
  }

  #lose(parts: readonly Part[], fault: RedisFault): void {
    for (const part of parts) part.expired();
    this.#fault = fault;
    this.#lostSince ??= this.clock.now();
  }

  /** The waiting requests are looked at again. */
  #changed(): void {
    for (const budget of this.budgets.values()) budget.changed();
  }

  async close(): Promise<void> {
    this.sendIn(0);
    // Some clients queue a command until Redis is back, possibly forever.
    await new Promise<void>((resolve) => {
      const giveUp = this.clock.after(silenceMs / 3, resolve, { idle: true });
      void Promise.all(this.#underWay).then(giveUp).then(resolve);
    });
  }
}

/** One limit that processes share through Redis, and its day, as this process knows them. */
export class RedisBudget implements SharedBudget {
  readonly key: string;
  readonly name: string;
  readonly limit: Limit;
  /** For the day. */
  readonly max: number;
  readonly gateOf: SharedBudget["gateOf"];
  /** The part of a round trip to the service that is certain to pass. */
  readonly floor;
  readonly #store: RedisStore;
  readonly #clock: Clock;
  #holder: SharingBudget | undefined;
  #last: BudgetReply | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #tripMs = 0;
  #unreportedPause = { ms: 0, by: "" };
  /** What this process may use alone while Redis is unavailable. */
  readonly #aloneMax: number;
  readonly #alone: Permits<this>;
  #wasAlone = false;
  /** The day's use that Redis does not know yet, and the part of it that an unanswered message tells. */
  #unreported = 0;
  #reporting = 0;

  constructor(
    { key, name, limit, max, gateOf }: Pick<RedisBudget, "key" | "name" | "limit" | "max" | "gateOf">,
    store: RedisStore,
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

  /** Also true once earlier use may have expired: Redis decides. */
  has(weight: number): boolean {
    return this.used + weight <= this.max || this.resetsInMs() === 0;
  }

  /** Redis counts what it grants. */
  add(): void {}

  resetsInMs(): number {
    return Math.max(0, (this.#last?.dayFreesInMs ?? 0) - this.#ageMs);
  }

  get #ageMs(): number {
    return this.#clock.now() - this.#heardAt;
  }

  attach(budget: SharingBudget): void {
    this.#holder = budget;
  }

  paused(ms: number, by: string): void {
    if (ms > this.#unreportedPause.ms) this.#unreportedPause = { ms, by };
  }

  get hasUnreportedPause(): boolean {
    return this.#unreportedPause.ms > 0;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  changed(): void {
    this.#holder?.changed();
  }

  /** When a request may go without Redis, as far as is known. */
  aloneAt(weight: number): number {
    if (this.#aloneMax === 0) return never;
    const now = this.#clock.now();
    const pausedUntil = now + (this.#holder?.pausedForMs ?? 0);
    const since = Math.max(this.#store.aloneSince(this.limit.windowMs), pausedUntil);
    const isFree = this.#alone.inHand >= Math.min(weight, this.#aloneMax) && this.has(weight);
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

  /** Its part of a message; `heard` takes the reply, undefined if Redis failed. */
  report() {
    const { max, windowMs } = this.limit;
    const { ms: pauseMs, by: pausedBy } = this.#unreportedPause;
    this.#unreportedPause = { ms: 0, by: "" };
    const wasAlone = this.#wasAlone;
    const charge = this.#unreported - this.#reporting;
    this.#reporting += charge;
    const sentAt = this.#clock.now();
    const message = {
      // JSON has no Infinity.
      max: Math.min(max, Number.MAX_SAFE_INTEGER),
      windowMs,
      dayMax: Math.min(this.max, Number.MAX_SAFE_INTEGER),
      floorMs: this.floor.floorMs,
      // Which state this process knows; an empty text for none.
      born: this.#ageMs < dayMs ? (this.#last?.born ?? "") : "",
      dayUsed: this.#last?.dayUsed ?? 0,
      // The time of that state as this process heard it, how long ago that was, and how long the question took.
      knownAt: this.#last?.at ?? 0,
      aheadMs: this.#last?.aheadMs ?? 0,
      ageMs: this.#ageMs,
      tripMs: this.#tripMs,
      // Whether it was used without Redis, as others may do still; and that use.
      wasAlone,
      charge,
      // A pause that the service asked for; 0 for none.
      pauseMs,
      pausedBy,
    };
    const heard = (reply: BudgetReply | undefined): void => {
      this.#reporting -= charge;
      if (reply === undefined) return this.paused(pauseMs, pausedBy);
      this.#last = reply;
      this.#heardAt = this.#clock.now();
      this.#tripMs = this.#heardAt - sentAt;
      this.#unreported -= charge;
      if (wasAlone) this.#wasAlone = false;
      if (reply.pausedForMs > 0) this.#holder?.pause(reply.pausedForMs, reply.pausedBy);
    };
    return { message, heard };
  }
}
