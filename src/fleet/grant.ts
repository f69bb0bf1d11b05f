import { type BudgetRecord, graceMs, isInteractive, type Rank, ranks, type Waiter } from "./budget-record.ts";
import type { Ask, Message, PartMessage, PartReply, Reply, StoreTime, WantedRequest } from "./messages.ts";
import { OpenBudget } from "./open-budget.ts";

/** A part of a message, with the budgets that its requests spend. */
interface OpenPart extends PartMessage {
  readonly spent: readonly OpenBudget[];
}

/**
 * How much a request spends of the budget with index `at`: its weight of the last budget, the narrowest; otherwise 1.
 */
const weightAt = ({ spent }: OpenPart, { weight }: Pick<WantedRequest, "weight">, at: number): number =>
  at === spent.length - 1 ? weight : 1;

/** How many permits of the budget with index `at` a request holds: never more than the limit. */
const amountAt = (part: OpenPart, request: WantedRequest, at: number): number =>
  Math.min(weightAt(part, request, at), part.spent[at]?.own.max ?? 0);

const end = (part: OpenPart): void => {
  for (const one of part.ended)
    for (const [at, budget] of part.spent.entries())
      budget.end(part.kind, one, weightAt(part, one, at), one.freeAt[at] ?? 0);
};

/** Keeps shares of the wider budgets for the part's kind. */
const keepShares = ({ kind, spent }: OpenPart, { shares }: Ask, ms: number): void => {
  for (const [at, budget] of spent.slice(0, -1).entries()) budget.keepShare(kind, shares[at] ?? 0, ms);
};

const isDue = (part: OpenPart, request: WantedRequest): boolean =>
  part.spent.every((budget, at) => budget.isBackgroundDue(amountAt(part, request, at)));

/** The requests of one kind that wait for permits, granted one after the other. */
class Asking {
  readonly #part: OpenPart;
  readonly #ask: Ask;
  readonly #message: Message;
  readonly #name: string;
  /** The kind's waiter in each budget when the message arrived. */
  readonly #before: readonly (Waiter | undefined)[];
  /** In how many milliseconds each granted request may go, in their order. */
  readonly #granted: number[] = [];
  reply: PartReply | undefined = undefined;

  constructor(part: OpenPart, ask: Ask, message: Message) {
    this.#part = part;
    this.#ask = ask;
    this.#message = message;
    this.#name = `${message.process} ${part.kind}`;
    this.#before = part.spent.map(({ state }) => state.waiters[this.#name]);
  }

  /** The position among the kinds of a message with the same rank. */
  get turn(): number {
    return Math.min(...this.#before.map((waiter) => waiter?.turn ?? Number.MAX_SAFE_INTEGER));
  }

  /** Grants requests in their order, until one has to wait or has a rank later than `latest`. */
  answer(latest: Rank): void {
    const { kind, spent } = this.#part;
    while (this.reply === undefined) {
      const request = this.#ask.requests[this.#granted.length];
      const rank = request === undefined ? 0 : this.#rankOf(request);
      if (rank > latest) {
        // The rank may have changed since the last message.
        for (const waiter of this.#before) if (waiter !== undefined) waiter.rank = rank;
        return;
      }
      for (const { state } of spent) delete state.waiters[this.#name];
      if (request === undefined) return this.#reply(0, undefined);
      const isAgain = spent[0]?.grantedIn(kind, request) !== undefined;
      const { inMs, waitMs, lacks } = isAgain ? this.#again(request) : this.#judge(request, rank);
      if (lacks !== undefined) {
        keepShares(this.#part, this.#ask, waitMs + graceMs);
        return this.#reply(waitMs, lacks);
      }
      for (const [at, budget] of spent.entries())
        budget.grant(kind, request, weightAt(this.#part, request, at), this.#ask.leaseMs, inMs);
      this.#granted.push(inMs);
    }
  }

  #reply(waitMs: number, lacks: number | undefined): void {
    this.reply = { granted: this.#granted, waitMs, lacks };
  }

  #rankOf(request: WantedRequest): Rank {
    if (isInteractive(this.#part.kind)) return 1;
    return isDue(this.#part, request) ? 0 : 2;
  }

  /** Repeats the grant of a request, because the first answer may be lost. During a pause, the request has to wait. */
  #again(request: WantedRequest): { inMs: number; waitMs: number; lacks: number | undefined } {
    const { spent, kind } = this.#part;
    const inMs = Math.max(...spent.map((budget) => budget.grantedIn(kind, request) ?? 0));
    const waitMs = Math.max(...spent.map(({ stoppedMs }) => stoppedMs));
    const lacks = waitMs > 0 ? spent.findIndex(({ stoppedMs }) => stoppedMs === waitMs) : undefined;
    return { inMs, waitMs, lacks };
  }

  /** Decides on a request: in how many milliseconds it may go, or how long it has to wait for which budget. */
  #judge(request: WantedRequest, rank: Rank): { inMs: number; waitMs: number; lacks: number | undefined } {
    const { spent } = this.#part;
    let inMs = 0;
    let waitMs = 0;
    let lacks: number | undefined;
    for (const at of spent.keys()) {
      const { ms, isWaiting } = this.#judgeAt(at, request, rank);
      if (isWaiting && ms > waitMs) {
        waitMs = ms;
        lacks = at;
      }
      inMs = Math.max(inMs, ms);
    }
    return { inMs, waitMs, lacks };
  }

  #judgeAt(at: number, request: WantedRequest, rank: Rank) {
    const part = this.#part;
    const index = this.#granted.length;
    const budget = part.spent[at] as OpenBudget;
    const { own, state, now } = budget;
    const amount = amountAt(part, request, at);
    const isWide = at < part.spent.length - 1;
    const before = this.#before[at];
    const turn = before?.id === request.id ? before.turn : state.turn;
    const isDayFull = budget.dayUsed + weightAt(part, request, at) > own.dayMax;
    const { ms, isSure } = isDayFull
      ? { ms: own.windowMs, isSure: false }
      : this.#roomIn(at, amount, index === 0, { rank, isWide, turn });
    // Permits that are sure to be free soon are granted now for that time, which saves a message.
    const aheadMs = Math.max(
      this.#message.storeFloorMs,
      Math.min(this.#message.grantAheadMs, own.windowMs / 10),
    );
    const isWaiting = ms > 0 && !(isSure && ms <= aheadMs);
    if (isWaiting && !isDayFull) {
      const want = this.#ask.requests.slice(index).reduce((sum, one) => sum + amountAt(part, one, at), 0);
      const ends = now + ms + graceMs + 2 * this.#message.storeFloorMs;
      const { process } = this.#message;
      state.waiters[this.#name] = { process, rank, id: request.id, turn, isWide, need: amount, want, ends };
      state.turn += 1;
    }
    return { ms, isWaiting };
  }

  #roomIn(at: number, amount: number, isFirst: boolean, me: Pick<Waiter, "rank" | "isWide" | "turn">) {
    const { spent, kind } = this.#part;
    const budget = spent[at] as OpenBudget;
    const { own, state } = budget;
    if (budget.stoppedMs > 0) return { ms: budget.stoppedMs, isSure: false };
    if (state.probe !== "") return { ms: Math.min(250, own.windowMs / 4), isSure: false };
    const reserve = me.rank === 2 ? budget.keptFromBackground(amount, this.#ask.leastReserve) : 0;
    const shares = me.isWide ? 0 : budget.keptForShares(kind);
    const isBelowShare = me.isWide && budget.heldBy(kind) + amount <= (this.#ask.shares[at] ?? 0);
    // If the whole budget is free, one request may go, however much is kept for others.
    const lack = budget.used + amount - own.max + Math.min(reserve + shares, own.max - amount);
    const ahead = (isOfFirst: boolean): number => budget.ahead(this.#name, me, isOfFirst, isBelowShare);
    const free = budget.freeIn(lack + ahead(isFirst));
    // Only the parts of other processes are in the way. Ask again once these processes have had their turn.
    if (free.ms > 0 && !isFirst && lack + ahead(true) <= 0)
      return { ms: Math.max(5, own.windowMs / 100), isSure: false };
    return free;
  }
}

/**
 * Applies a message to the budgets that processes share: grants requests, and records requests that have ended. The
 * function changes `records`. It reads no clock.
 *
 * A granted request holds its permits until it has ended; then they cool down for a window. If a process sends no
 * message for `silenceMs`, it counts as dead, and its permits cool down from then on.
 *
 * @param records - the state of each of the message's budgets; undefined for a new budget.
 * @param time - the time of the store, and the time of the process for which the message's times are given.
 */
export const grant = (
  records: readonly (BudgetRecord | undefined)[],
  message: Message,
  time: StoreTime,
): { readonly records: readonly BudgetRecord[]; readonly reply: Reply } => {
  const budgets = message.budgets.map((own, index) => new OpenBudget(records[index], own, message, time));
  const parts = message.parts.map((part) => ({
    ...part,
    spent: part.budgets.flatMap((index) => budgets[index] ?? []),
  }));
  for (const part of parts) {
    end(part);
    if (part.ask === undefined) continue;
    const isWaiting = part.ask.requests.length > 0;
    // Keep the shares of all parts before any part is answered, so that they also apply to the parts answered first.
    keepShares(part, part.ask, isWaiting ? 1 : 0);
    if (isWaiting && isInteractive(part.kind)) for (const budget of part.spent) budget.sawInteractive();
  }
  for (const budget of budgets) {
    budget.pause();
    budget.count();
  }
  const askings = parts.map((part) => part.ask && new Asking(part, part.ask, message));
  const inTurn = askings.flatMap((asking) => asking ?? []).sort((one, other) => one.turn - other.turn);
  for (const rank of ranks) for (const asking of inTurn) asking.answer(rank);
  return {
    records: budgets.map(({ state }) => state),
    reply: {
      budgets: budgets.map(({ reply }) => reply),
      parts: askings.map((asking) => asking?.reply ?? { granted: [], waitMs: 0, lacks: undefined }),
    },
  };
};
