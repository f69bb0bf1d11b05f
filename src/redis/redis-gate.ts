import { randomUUID } from "node:crypto";
import type { LostStore, SharingRequest } from "../options/shared-limits.ts";
import { LatencyFloor } from "../rate-limit/permits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import type { RedisCommands } from "./commands.ts";
import type { AskReply, BudgetReply, BudgetReport, Exchange, ExchangeReply } from "./exchange.ts";
import { faultOf, type RedisFault, silence } from "./fault.ts";
import {
  type Asked,
  askOf,
  budgetsOf,
  type Ended,
  type Lane,
  newLane,
  rankOf,
  settledOf,
  spendingOf,
  type Ticket,
  waitingIn,
} from "./lanes.ts";
import type { RedisBudget, Store } from "./shared-budget.ts";
import { exchange } from "./take-script.ts";

// Redis that has not answered for so long is unavailable, and what it granted may not be used any more.
const silenceMs = 3_000;
const retryMs = 250;
// A request that has ended is told with the next question. So long it may wait for one: it is told how long ago that was.
const mostUntoldMs = 150;
const never = Number.POSITIVE_INFINITY;

export interface GateContext {
  readonly redis: RedisCommands;
  /** While Redis is unavailable: the share of each limit to use; if it is 0, how long calls wait. */
  readonly whenLost: { readonly share: number; readonly maxMs: number };
}

/** Asks Redis for each request, and tells it when one has ended; what becomes known together goes in one message. */
export class RedisGate implements Store {
  readonly #context: GateContext;
  readonly #clock: Clock;
  readonly #process = randomUUID();
  readonly #budgets = new Map<string, RedisBudget>();
  readonly #lanes = new Map<object, Lane>();
  /** Requests that Redis was asked for, until they have ended. */
  readonly #tickets = new Map<SharingRequest, Ticket>();
  readonly #floor = new LatencyFloor(10_000, { slackMs: 15, mostMs: silenceMs / 2 });
  readonly #settled: Ended[] = [];
  #cancelTelling: Cancel | undefined;
  /** Budgets with something to tell. */
  readonly #toTell = new Set<RedisBudget>();
  #isFlushing = false;
  #lostSince: number | undefined;
  #fault: RedisFault = silence(0);
  #wasAlone = false;
  #wasConnected = false;
  #count = 0;
  readonly #underWay = new Set<Promise<void>>();

  constructor(context: GateContext, clock: Clock) {
    this.#context = context;
    this.#clock = clock;
  }

  /** The budget of a key, created once. */
  budget(key: string, make: () => RedisBudget): RedisBudget {
    const budget = this.#budgets.get(key) ?? make();
    this.#budgets.set(key, budget);
    return budget;
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

  readyAt(request: SharingRequest): number | undefined {
    // A timer may be early by a rounding error.
    const now = this.#clock.now() + 0.001;
    const lane = this.#laneOf(request);
    const granted = this.#grantOf(request);
    if (granted !== undefined) return now >= granted.from ? undefined : granted.from;
    lane.heads.add(request);
    const isAsked = lane.underWay !== undefined;
    if (!isAsked && now >= lane.askAt) {
      lane.isDue = true;
      this.#flushSoon();
    }
    const askAt = isAsked || lane.isDue ? never : lane.askAt;
    if (this.#lostSince === undefined) return askAt;
    const aloneAt = this.#aloneAt(request);
    return aloneAt === undefined ? undefined : Math.min(aloneAt, askAt, this.lost?.givesUpAt ?? never);
  }

  isGranted(request: SharingRequest): boolean {
    return this.#grantOf(request) !== undefined;
  }

  /** What Redis granted it, as long as it may be used. */
  #grantOf(request: SharingRequest): Ticket["granted"] {
    const granted = this.#tickets.get(request)?.granted;
    return granted !== undefined && this.#clock.now() <= granted.until ? granted : undefined;
  }

  lacks(request: SharingRequest): ReturnType<Store["lacks"]> {
    const lacks = this.#lanes.get(request.queue.kind)?.lacks;
    return lacks && { name: lacks.name, ms: Math.max(0, lacks.until - this.#clock.now()) };
  }

  take(request: SharingRequest): void {
    this.#laneOf(request).heads.delete(request);
    const ticket = this.#tickets.get(request);
    if (ticket === undefined) return;
    ticket.isTaken = true;
    if (!ticket.isAlone) return;
    this.#wasAlone = true;
    for (const [budget, weight] of spendingOf(request)) budget.takeAlone(weight);
  }

  drop(request: SharingRequest): void {
    const lane = this.#laneOf(request);
    lane.heads.delete(request);
    const ticket = this.#tickets.get(request);
    if (ticket === undefined || ticket.isTaken) return;
    this.#tickets.delete(request);
    if (ticket.granted !== undefined && !ticket.isAlone) this.#end(request, ticket, false, false);
    else if (lane.heads.size === 0 && lane.lacks !== undefined) {
      lane.left = request;
      lane.isDue = true;
      this.#flushSoon();
    }
  }

  settle(
    request: SharingRequest,
    { roundTripMs, wasSent }: { readonly roundTripMs: number | undefined; readonly wasSent: boolean },
  ): void {
    const ticket = this.#tickets.get(request);
    this.#tickets.delete(request);
    if (ticket === undefined) return;
    for (const [budget, weight] of spendingOf(request)) {
      if (roundTripMs !== undefined) budget.floor.add(roundTripMs, this.#clock.now());
      if (ticket.isAlone) budget.endAlone(weight, roundTripMs, wasSent);
    }
    if (!ticket.isAlone) this.#end(request, ticket, wasSent, roundTripMs !== undefined);
  }

  seek(): void {
    const [budget] = this.#budgets.values();
    if (budget !== undefined) this.tell(budget);
  }

  tell(budget: RedisBudget): void {
    this.#toTell.add(budget);
    this.#flushSoon();
  }

  async close(): Promise<void> {
    if (this.#settled.length > 0) this.#flushSoon();
    // Some clients queue a command until Redis is back, possibly forever.
    await new Promise<void>((resolve) => {
      const giveUp = this.#clock.after(silenceMs / 3, resolve, { idle: true });
      void Promise.all(this.#underWay).then(giveUp).then(resolve);
    });
  }

  #laneOf({ queue }: SharingRequest): Lane {
    const lane = this.#lanes.get(queue.kind) ?? newLane();
    this.#lanes.set(queue.kind, lane);
    return lane;
  }

  #end(request: SharingRequest, { id }: Ticket, wasSent: boolean, wasAnswered: boolean): void {
    this.#settled.push({ request, id, wasSent, wasAnswered, endedAt: this.#clock.now() });
    // What was never sent is free at once; and of a distant Redis, others learn late enough.
    const mostMs = wasSent ? mostUntoldMs - this.#floor.floorMs : 0;
    const ms = Math.min(mostMs, ...budgetsOf(request).map(({ limit }) => limit.windowMs / 6));
    if (ms <= 0) this.#flushSoon();
    else this.#cancelTelling ??= this.#clock.after(ms, () => this.#flushSoon());
  }

  /** Without Redis, a request may go within this process's share: when, or undefined for now. */
  #aloneAt(request: SharingRequest): number | undefined {
    if (this.#context.whenLost.share === 0) return never;
    const now = this.#clock.now();
    for (const [budget, weight] of spendingOf(request)) {
      // What was used before has to cool down first, here and elsewhere.
      const since = (this.#lostSince ?? now) + (this.#wasConnected ? budget.limit.windowMs : 0);
      const readyAt = budget.aloneAt(weight, since) ?? never;
      if (readyAt > now) return readyAt;
    }
    this.#ticketOf(request).isAlone = true;
    return undefined;
  }

  #ticketOf(request: SharingRequest): Ticket {
    const known = this.#tickets.get(request);
    if (known !== undefined) return known;
    const id = `${this.#process}:${this.#count++}`;
    const ticket: Ticket = { id, granted: undefined, isAlone: false, isTaken: false };
    this.#tickets.set(request, ticket);
    return ticket;
  }

  #changed(): void {
    for (const budget of this.#budgets.values()) budget.changed();
  }

  /** What becomes known in one turn goes in one message. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const sent = Promise.resolve()
      .then(() => this.#send())
      .finally(() => this.#underWay.delete(sent));
    this.#underWay.add(sent);
  }

  async #send(): Promise<void> {
    this.#isFlushing = false;
    const asked = this.#collect();
    const settled = this.#settled.splice(0);
    const sentAt = this.#clock.now();
    this.#cancelTelling?.();
    this.#cancelTelling = undefined;
    const told = [...asked.map(({ first }) => first), ...settled.map(({ request }) => request)];
    const budgets = [...new Set([...told.flatMap(budgetsOf), ...this.#toTell])];
    this.#toTell.clear();
    if (budgets.length === 0) return;
    const at = (request: SharingRequest): number[] =>
      budgetsOf(request).map((budget) => budgets.indexOf(budget) + 1);
    const message: Exchange = {
      process: this.#process,
      redisFloorMs: this.#floor.floorMs,
      wasAlone: this.#wasAlone,
      budgets: budgets.map((budget) => budget.report()),
      settled: settled.map((one) => settledOf(one, at(one.request), sentAt)),
      asks: asked.map((one) => askOf(one, at(one.first), silenceMs)),
    };
    const lose = (fault: RedisFault): void => {
      for (const one of asked.filter((it) => it.lane.underWay === it))
        Object.assign(one.lane, { underWay: undefined, askAt: this.#clock.now() + retryMs });
      this.#lose(fault);
    };
    const cancelAlarm = this.#clock.after(silenceMs, () => lose(silence(silenceMs)), { idle: true });
    try {
      const keys = budgets.map(({ key }) => key);
      const reply = await exchange(this.#context.redis, keys, [JSON.stringify(message)]);
      // The script returns this shape.
      const { budgets: states, asks } = JSON.parse(String(reply)) as ExchangeReply;
      this.#lostSince = undefined;
      this.#wasConnected = true;
      if (message.wasAlone) this.#wasAlone = false;
      this.#floor.add(this.#clock.now() - sentAt, this.#clock.now());
      for (const [place, budget] of budgets.entries())
        budget.heard(states[place] as BudgetReply, message.budgets[place] as BudgetReport);
      for (const [place, one] of asked.entries())
        this.#answered(one, asks[place] as AskReply, { budgets, sentAt });
    } catch (error) {
      this.#settled.unshift(...settled);
      for (const [place, budget] of budgets.entries()) budget.unheard(message.budgets[place] as BudgetReport);
      lose(faultOf(error));
    } finally {
      cancelAlarm();
      this.#changed();
    }
  }

  /** The waiting requests to ask for now, by kind; interactive ones first. */
  #collect(): readonly Asked[] {
    const asked: Asked[] = [];
    for (const lane of this.#lanes.values()) {
      // A message that goes anyway learns sooner when permits return.
      if (lane.underWay !== undefined || !(lane.isDue || this.#settled.length > 0)) continue;
      const requests = waitingIn(lane).filter((one) => !this.isGranted(one));
      lane.isDue = false;
      const first = requests[0] ?? lane.left;
      lane.left = undefined;
      if (first === undefined) continue;
      const tickets = requests.map((one) => this.#ticketOf(one));
      const one: Asked = { lane, first, requests, tickets };
      lane.underWay = one;
      asked.push(one);
    }
    return asked.sort((one, other) => rankOf(one) - rankOf(other));
  }

  #answered(
    one: Asked,
    { granted, waitMs, lacks }: AskReply,
    { budgets, sentAt }: { readonly budgets: readonly RedisBudget[]; readonly sentAt: number },
  ): void {
    const { lane, first, requests, tickets } = one;
    const now = this.#clock.now();
    if (lane.underWay === one) {
      lane.underWay = undefined;
      // The next question is to arrive when the answer can be yes: two ways to Redis sooner.
      lane.askAt = lacks > 0 ? now + Math.max(1, waitMs - 2 * this.#floor.floorMs) : now;
      const lacking = budgets[lacks - 1];
      const name = first.queue.kind.budgets.find(
        ({ shared }) => lacking !== undefined && shared === lacking,
      )?.name;
      lane.lacks = name && { name, until: now + waitMs };
    }
    // Lua writes an empty list as {}.
    for (const [place, inMs] of Object.values(granted).entries()) {
      const [ticket, request] = [tickets[place], requests[place]];
      if (ticket === undefined || request === undefined) continue;
      // It has left, or gone without Redis, in the meantime.
      const isLate = ticket.isTaken || this.#tickets.get(request) !== ticket;
      if (isLate) this.#end(request, ticket, false, false);
      else ticket.granted = { from: now + inMs, until: sentAt + silenceMs + inMs };
    }
  }

  #lose(fault: RedisFault): void {
    this.#fault = fault;
    this.#lostSince ??= this.#clock.now();
    this.#changed();
  }
}
