import {
  chargedSlots,
  currentSlots,
  dayMs,
  slotMs,
  slotsFreeInMs,
  sumOfSlots,
} from "../rate-limit/permits.ts";
import {
  isBackgroundDue,
  keptForShares,
  keptOfReserve,
  rememberedWindows,
  reserveOf,
  type Share,
} from "../rate-limit/rules.ts";
import {
  type BudgetRecord,
  endOf,
  graceMs,
  type Holder,
  isInteractive,
  newRecord,
  silenceMs,
  timeOf,
  type Waiter,
} from "./budget-record.ts";
import type {
  Ask,
  BudgetMessage,
  BudgetReply,
  EndedRequest,
  Message,
  StoreTime,
  WantedRequest,
} from "./messages.ts";

/** The state of one budget while a message is applied, and the counts that each message computes anew. */
export class OpenBudget {
  readonly state: BudgetRecord;
  /** What the message reports about this budget. */
  readonly own: BudgetMessage;
  readonly #message: Message;
  /** The time of the process that belongs to `now`, or an earlier one. */
  readonly #sentAt: number;
  /** The permits that are not free for the message's process, and the part of them that interactive calls hold. */
  used = 0;
  interactive = 0;
  readonly #byKind = new Map<string, number>();
  readonly #byProcess = new Map<string, number>();
  readonly #kindsInFlight = new Set<string>();
  /** When permits return. The time is sure for permits that are cooling down, not for permits in flight. */
  readonly #returns: { readonly at: number; readonly amount: number; readonly isSure: boolean }[] = [];

  constructor(record: BudgetRecord | undefined, own: BudgetMessage, message: Message, time: StoreTime) {
    const { last } = own;
    // A store that was restored from a backup, or by a failover, has lost the last changes. Start a new record then.
    const isOlder = last !== undefined && last.born === record?.born && record.writes < last.writes;
    const state = record === undefined || isOlder ? newRecord(time.now, message.process) : record;
    state.writes += 1;
    this.state = state;
    this.own = own;
    this.#message = message;
    this.#sentAt = time.sentAt;
    const now = timeOf(state, own, time);
    state.heardAt = now;
    // The process knows another record, so the store has lost its data. Requests that were granted before the loss may
    // still be sent, and count for a window. Grant nothing until that time has passed. Keep the daily use that the
    // process knows.
    if (last !== undefined && last.born !== state.born) {
      state.blockedUntil = Math.max(state.blockedUntil, state.bornAt + own.windowMs + silenceMs);
      state.before = Math.max(state.before, last.dayUsed);
      state.beforeUntil = Math.max(state.beforeUntil, this.#timeAt(last.heardAt) + dayMs + slotMs);
    }
    // If this process used its share without the store, others may still be using theirs.
    if (own.wasAlone) state.blockedUntil = Math.max(state.blockedUntil, now + own.windowMs + graceMs);
    if (state.beforeUntil <= now) state.before = 0;
    state.day = currentSlots(state.day, now);
    if (own.charge !== 0) this.charge(own.charge);
  }

  get now(): number {
    return this.state.heardAt;
  }

  /** The time of the state at a time of the process. It may be later than the true one, but not earlier. */
  #timeAt(processTime: number): number {
    return this.now + processTime - this.#sentAt;
  }

  get dayUsed(): number {
    return this.state.before + sumOfSlots(this.state.day);
  }

  charge(weight: number): void {
    this.state.day = chargedSlots(this.state.day, this.now, weight);
  }

  heldBy(kind: string): number {
    return this.#byKind.get(kind) ?? 0;
  }

  #holderOf(kind: string): Holder {
    const { process } = this.#message;
    this.state.holders[`${process} ${kind}`] ??= { process, kind, permits: {}, heardAt: this.now };
    return this.state.holders[`${process} ${kind}`] as Holder;
  }

  /** In how many milliseconds an already granted request may go; undefined if it was not granted. */
  grantedIn(kind: string, { id }: WantedRequest): number | undefined {
    const permit = this.#holderOf(kind).permits[id];
    if (permit === undefined) return undefined;
    return "usableAt" in permit ? Math.max(0, permit.usableAt - this.now) : 0;
  }

  /** The remaining time of a pause, or of the time in which nothing is granted, in milliseconds. */
  get stoppedMs(): number {
    return Math.max(0, Math.max(this.state.pausedUntil, this.state.blockedUntil) - this.now);
  }

  /** Records the end of a request. */
  end(kind: string, one: EndedRequest, weight: number, freeAt: number): void {
    const { state, own } = this;
    const { permits } = this.#holderOf(kind);
    if (state.probe === one.id) {
      state.probe = "";
      state.isProbeDue ||= !one.wasSent;
    }
    if (permits[one.id] !== undefined && !one.wasSent) this.charge(-weight);
    delete permits[one.id];
    if (!one.wasSent) return;
    // The permits cool down even if they were dropped because the process seemed dead. Whole milliseconds let permits
    // return together.
    permits[one.id] = {
      amount: Math.min(weight, own.max),
      ends: Math.ceil(this.#timeAt(freeAt) + 1),
      floorMs: one.wasAnswered ? own.floorMs : 0,
      storeFloorMs: one.wasAnswered ? this.#message.storeFloorMs : 0,
    };
  }

  /** Applies the message's pause to all processes. After the pause, one request is granted alone, as the probe. */
  pause(): void {
    const { state, own } = this;
    if (own.pause === undefined) return;
    const until = this.#timeAt(own.pause.until);
    if (until > state.pausedUntil) {
      state.pausedUntil = until;
      state.pausedBy = own.pause.by;
    }
    state.isProbeDue = true;
  }

  #hold({ process, kind }: Holder, amount: number): void {
    this.used += amount;
    this.#byKind.set(kind, this.heldBy(kind) + amount);
    this.#byProcess.set(process, (this.#byProcess.get(process) ?? 0) + amount);
    if (isInteractive(kind)) this.interactive += amount;
  }

  /**
   * Counts the permits that are not free for this process. A permit returns sooner by the least time that the next
   * round trip takes.
   */
  count(): void {
    const { state, own, now } = this;
    let isProbing = false;
    for (const [name, holder] of Object.entries(state.holders)) {
      let amount = 0;
      if (holder.process === this.#message.process) holder.heardAt = now;
      for (const [id, permit] of Object.entries(holder.permits)) {
        const ends = endOf(holder, permit);
        const isCooling = "ends" in permit;
        const sooner = isCooling
          ? Math.min(permit.floorMs, own.floorMs) + Math.min(permit.storeFloorMs, this.#message.storeFloorMs)
          : 0;
        if (ends <= now) delete holder.permits[id];
        else if (!isCooling || ends - sooner > now) {
          amount += permit.amount;
          const at = isCooling ? ends - sooner : Math.min(now + own.windowMs, ends);
          this.#returns.push({ at, amount: permit.amount, isSure: isCooling });
          isProbing ||= state.probe === id;
          if (!isCooling) this.#kindsInFlight.add(holder.kind);
        }
      }
      this.#hold(holder, amount);
      if (Object.keys(holder.permits).length === 0) delete state.holders[name];
    }
    // Requests in flight keep only the latest share of their kind. Otherwise, the shares of all processes that have ever
    // sent would accumulate.
    const later = new Set<string>();
    for (const [name, { kind, ends }] of Object.entries(state.kinds).reverse()) {
      if (ends <= now && (later.has(kind) || !this.#kindsInFlight.has(kind))) delete state.kinds[name];
      later.add(kind);
    }
    if (state.probe !== "" && !isProbing) {
      state.probe = "";
      state.isProbeDue = true;
    }
    this.#returns.sort((one, other) => one.at - other.at);
  }

  isBackgroundDue(amount: number): boolean {
    return isBackgroundDue(
      this.own,
      amount,
      this.used - this.interactive,
      this.now - this.state.backgroundAt,
    );
  }

  /** How many permits a background request leaves for interactive calls. */
  keptFromBackground(amount: number, leastReserve: number): number {
    const { max } = this.own;
    if (this.state.interactiveUntil <= this.now) return 0;
    return keptOfReserve(reserveOf(max, this.interactive, leastReserve), max, amount, this.interactive);
  }

  /** Notes an interactive request, so that background work leaves a reserve in the next windows. */
  sawInteractive(): void {
    this.state.interactiveUntil = this.now + rememberedWindows * this.own.windowMs;
  }

  keepShare(kind: string, share: number, ms: number): void {
    this.state.kinds[`${this.#message.process} ${kind}`] = { kind, share, ends: this.now + ms };
  }

  /** How many permits a request that needs no narrower budget leaves for kinds that do. */
  keptForShares(kind: string): number {
    return keptForShares(this.own.max, isInteractive(kind), this.#shares());
  }

  #shares(): Iterable<Share> {
    const byKind = new Map<string, Share>();
    for (const { kind, share, ends } of Object.values(this.state.kinds))
      if (ends > this.now || this.#kindsInFlight.has(kind))
        byKind.set(kind, { isInteractive: isInteractive(kind), share, inUse: this.heldBy(kind) });
    return byKind.values();
  }

  /**
   * How many permits other waiting requests get before this request. The first requests of kinds with the same rank go
   * in the order in which they became the first. The requests behind them leave every other process an equal part.
   *
   * @param name - the name of the request's own waiter.
   * @param isFirst - whether the request is the first of its kind in its process.
   * @param isBelowShare - whether the kind stays within its share of this budget.
   */
  ahead(
    name: string,
    me: Pick<Waiter, "rank" | "isWide" | "turn">,
    isFirst: boolean,
    isBelowShare: boolean,
  ): number {
    const { own, state } = this;
    const others: Waiter[] = [];
    const processes = new Set([this.#message.process]);
    for (const [other, waiter] of Object.entries(state.waiters))
      if (waiter.ends <= this.now) delete state.waiters[other];
      else if (
        other !== name &&
        waiter.rank <= me.rank &&
        (waiter.isWide === me.isWide || (me.isWide && !isBelowShare))
      ) {
        others.push(waiter);
        processes.add(waiter.process);
      }
    const part = Math.ceil(own.max / processes.size);
    let sum = 0;
    for (const { rank, process, turn, need, want } of others)
      if (rank < me.rank) sum += rank === 0 ? need : want;
      else if (isFirst) sum += turn < me.turn ? need : 0;
      else {
        const whole = Math.floor((part - (this.#byProcess.get(process) ?? 0)) / need) * need;
        sum += Math.min(want, Math.max(need, whole));
      }
    return sum;
  }

  /** In how many milliseconds `lack` more permits are free, and whether that is sure. */
  freeIn(lack: number): { readonly ms: number; readonly isSure: boolean } {
    let left = lack;
    if (left <= 0) return { ms: 0, isSure: true };
    for (const { at, amount, isSure } of this.#returns) {
      left -= amount;
      if (left <= 0) return { ms: at - this.now, isSure };
    }
    return { ms: this.own.windowMs, isSure: false };
  }

  /**
   * Grants a request, which may go in `inMs`. A repeated grant, after a lost answer, only restarts the request's time.
   */
  grant(kind: string, { id }: WantedRequest, weight: number, leaseMs: Ask["leaseMs"], inMs: number): void {
    const { state, own, now } = this;
    const holder = this.#holderOf(kind);
    const isAgain = holder.permits[id] !== undefined;
    const amount = Math.min(weight, own.max);
    const coolMs = own.windowMs * Math.max(1, weight / own.max);
    holder.permits[id] = { amount, usableAt: now + inMs, leaseMs, coolMs };
    if (isAgain) return;
    this.#hold(holder, amount);
    this.#kindsInFlight.add(kind);
    this.#returns.push({ at: now + own.windowMs, amount, isSure: false });
    if (!isInteractive(kind)) state.backgroundAt = now;
    if (state.isProbeDue) {
      state.probe = id;
      state.isProbeDue = false;
    }
    this.charge(weight);
  }

  get reply(): BudgetReply {
    const { state, now } = this;
    return {
      born: state.born,
      writes: state.writes,
      at: now,
      aheadMs: state.aheadMs,
      used: this.used,
      freeInMs: (this.#returns.at(-1)?.at ?? now) - now,
      dayUsed: this.dayUsed,
      dayFreesInMs: Math.max(
        0,
        state.day.length > 0 ? slotsFreeInMs(state.day, now, 1) : state.beforeUntil - now,
      ),
      pausedForMs: Math.max(0, state.pausedUntil - now),
      pausedBy: state.pausedBy,
      interactive: state.interactiveUntil > now ? this.interactive : undefined,
    };
  }
}
