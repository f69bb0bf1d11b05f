import { randomUUID } from "node:crypto";
import type { Limit } from "../options/limits.ts";
import type { LostStore, SharedBudget, SharingBudget } from "../options/shared-limits.ts";
import { dayMs, latencyFloorFor, Permits } from "../rate-limit/permits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import { silenceMs } from "./budget-record.ts";
import { Exchange } from "./exchange.ts";
import type { BudgetMessage, BudgetReply, PartMessage, PartReply } from "./messages.ts";
import type { Place, PlaceFault } from "./place.ts";

/** The fault when no answer arrives in time. */
const silence: PlaceFault = {
  what: `has not responded for more than ${silenceMs / 1_000} s`,
  cause: undefined,
  isLasting: false,
};
const never = Number.POSITIVE_INFINITY;
// Saves messages, and delays an interactive call behind what was granted before it came.
const soonMs = 100;

/** A part of a message: of requests of one kind. */
export interface Part {
  readonly isInteractive: boolean;
  /** The budgets that they spend, the narrowest last. */
  readonly budgets: readonly FleetBudget[];
  readonly message: Omit<PartMessage, "budgets">;
  /** Takes the reply, and when the process sent what it answers; undefined if the store failed. */
  heard(reply: PartReply | undefined, sentAt: number): void;
  /** No reply has come in time: it may ask again. */
  expired(): void;
}

/** While the store is unavailable: the share of each limit to use; if it is 0, how long calls wait. */
interface WhenLost {
  readonly share: number;
  readonly maxMs: number;
}

/**
 * The store behind the limits of this process. What becomes known together, of all kinds of requests, goes in one
 * message.
 */
export class LimitStore {
  readonly clock: Clock;
  // A part of a UUID is enough to tell processes apart, and all stored permits name theirs.
  readonly process = randomUUID().slice(0, 13);
  /** How many requests the store was asked for. */
  count = 0;
  readonly whenLost: WhenLost;
  /** The gates with something to report in the next message: requests that wait, are in flight, or have ended. */
  readonly gates = new Set<{ parts(): readonly Part[] }>();
  readonly budgets = new Map<string, FleetBudget>();
  readonly #place: Place;
  readonly #exchange: Exchange;
  #lostSince: number | undefined;
  #fault: PlaceFault = silence;
  #wasConnected = false;
  #isSending = false;
  /** Whether more has become known since. */
  #isDue = false;
  #next: { readonly at: number; readonly cancel: Cancel } | undefined;
  readonly #underWay = new Set<Promise<void>>();

  constructor(place: Place, whenLost: WhenLost, clock: Clock) {
    this.#place = place;
    this.#exchange = new Exchange(place, this.process, clock);
    this.whenLost = whenLost;
    this.clock = clock;
  }

  /** The part of a round trip to the store that is certain to pass. */
  get floorMs(): number {
    return this.#exchange.floor.floorMs;
  }

  get lost(): LostStore | undefined {
    const { share, maxMs } = this.whenLost;
    if (this.#lostSince === undefined) return undefined;
    const { what, cause, isLasting } = this.#fault;
    const closed = isLasting
      ? "calls fail at once, because waiting cannot help"
      : `calls wait until ${maxMs} ms after its loss (maxLostMs), and then fail`;
    const then = share > 0 ? `"open", this process uses ${share} of each limit` : `"closed", ${closed}`;
    const why = `${this.#place.name}, which shares the limits, ${what}. Because onLost is ${then}`;
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
    // Two messages of one process would compete for the state.
    this.#isDue = this.#isSending;
    if (this.#isSending) return;
    this.#isSending = true;
    const sent = Promise.resolve()
      .then(() => this.#send())
      .finally(() => this.#underWay.delete(sent));
    this.#underWay.add(sent);
  }

  /** The next message may go. */
  #sent(): void {
    this.#isSending = false;
    if (this.#isDue) this.sendIn(0);
  }

  async #send(): Promise<void> {
    this.#isDue = false;
    this.#next?.cancel();
    this.#next = undefined;
    const parts = [...this.gates].flatMap((gate) => gate.parts());
    if (parts.length === 0) return this.#sent();
    // Interactive requests are asked for first.
    parts.sort((one, other) => Number(other.isInteractive) - Number(one.isInteractive));
    const budgets = [...new Set(parts.flatMap((part) => part.budgets))];
    const reports = budgets.map((budget) => budget.report());
    const message = {
      process: this.process,
      storeFloorMs: this.floorMs,
      soonMs,
      budgets: reports.map((report) => report.message),
      parts: parts.map(({ message: part, budgets: spent }) => ({
        ...part,
        budgets: spent.map((budget) => budgets.indexOf(budget)),
      })),
    };
    const since = this.clock.now();
    let isOver = false;
    let cancelAlarm: Cancel | undefined;
    const end = (): void => {
      cancelAlarm?.();
      if (!isOver) this.#sent();
      isOver = true;
      this.#changed();
    };
    const watch = (): void => {
      const leftMs = Math.max(since, this.#exchange.heardAt) + silenceMs - this.clock.now();
      if (leftMs > 0) cancelAlarm = this.clock.after(leftMs, watch, { idle: true });
      else {
        this.#lose(parts, silence);
        end();
      }
    };
    watch();
    try {
      const keys = budgets.map(({ key }) => key);
      const reply = await this.#exchange.send(keys, message);
      this.#lostSince = undefined;
      this.#wasConnected = true;
      for (const [at, { heard }] of reports.entries()) heard(reply.budgets[at]);
      for (const [at, part] of parts.entries()) part.heard(reply.parts[at], reply.sentAt);
    } catch (error) {
      for (const { heard } of reports) heard(undefined);
      for (const part of parts) part.heard(undefined, never);
      this.#lose(parts, this.#place.faultOf(error));
    } finally {
      end();
    }
  }

  #lose(parts: readonly Part[], fault: PlaceFault): void {
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
    // Some clients queue a command until their server is back, possibly forever.
    await new Promise<void>((resolve) => {
      const giveUp = this.clock.after(silenceMs / 3, resolve, { idle: true });
      void Promise.all(this.#underWay).then(giveUp).then(resolve);
    });
  }
}

/** One limit that processes share through a store, and its day, as this process knows them. */
export class FleetBudget implements SharedBudget {
  readonly key: string;
  readonly name: string;
  readonly limit: Limit;
  /** For the day. */
  readonly max: number;
  readonly gateOf: SharedBudget["gateOf"];
  /** The part of a round trip to the service that is certain to pass. */
  readonly floor;
  readonly #store: LimitStore;
  readonly #clock: Clock;
  #holder: SharingBudget | undefined;
  #last: BudgetReply | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #tripMs = 0;
  #unreportedPause = { ms: 0, by: "" };
  /** What this process may use alone while the store is unavailable. */
  readonly #aloneMax: number;
  readonly #alone: Permits<this>;
  #wasAlone = false;
  /** The day's use that the store does not know yet, and the part of it that an unanswered message tells. */
  #unreported = 0;
  #reporting = 0;

  constructor(
    { key, name, limit, max, gateOf }: Pick<FleetBudget, "key" | "name" | "limit" | "max" | "gateOf">,
    store: LimitStore,
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

  /** Also true once earlier use may have expired: the store decides. */
  has(weight: number): boolean {
    return this.used + weight <= this.max || this.resetsInMs() === 0;
  }

  /** The store counts what it grants. */
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

  /** When a request may go without the store, as far as is known. */
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

  /** Its part of a message; `heard` takes the reply, undefined if the store failed. */
  report() {
    const { max, windowMs } = this.limit;
    const { ms: pauseMs, by: pausedBy } = this.#unreportedPause;
    this.#unreportedPause = { ms: 0, by: "" };
    const wasAlone = this.#wasAlone;
    const charge = this.#unreported - this.#reporting;
    this.#reporting += charge;
    const sentAt = this.#clock.now();
    const message: BudgetMessage = {
      max: Math.min(max, Number.MAX_SAFE_INTEGER),
      windowMs,
      dayMax: Math.min(this.max, Number.MAX_SAFE_INTEGER),
      floorMs: this.floor.floorMs,
      born: this.#ageMs < dayMs ? (this.#last?.born ?? "") : "",
      dayUsed: this.#last?.dayUsed ?? 0,
      knownAt: this.#last?.at ?? 0,
      aheadMs: this.#last?.aheadMs ?? 0,
      // Before the first reply, it knows none.
      ageMs: Math.min(this.#ageMs, Number.MAX_SAFE_INTEGER),
      tripMs: this.#tripMs,
      wasAlone,
      charge,
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
