import { randomUUID } from "node:crypto";
import type { LostStore } from "../options/shared-limits.ts";
import type { Cancel, Clock } from "../runtime/clock.ts";
import { graceMs, silenceMs } from "./budget-record.ts";
import { Exchange } from "./exchange.ts";
import type { FleetBudget, WhenLost } from "./fleet-budget.ts";
import type { BudgetReply, PartMessage, PartReply, Trip } from "./messages.ts";
import type { Place, PlaceFault } from "./place.ts";

/** The fault of a store that does not respond in time. */
const silence: PlaceFault = {
  what: `has not responded for more than ${silenceMs / 1_000} s`,
  cause: undefined,
  isLasting: false,
};
// The store grants a permit in advance if the permit is certain to become free within this time. A longer time saves
// messages, but makes interactive calls wait behind more requests that were granted ahead.
const grantAheadMs = 100;

/** The part of a message about requests of one kind, and the functions that take its reply. */
export interface Part {
  /** The budgets that the requests spend, the narrowest last. */
  readonly budgets: readonly FleetBudget[];
  readonly message: Omit<PartMessage, "budgets">;
  /** Takes the reply to the message. */
  heard(reply: PartReply, trip: Trip): void;
  /** Called if the store has failed or has not replied in time. A late reply may still follow. */
  failed(): void;
}

/**
 * The connection of this process to the store of its shared limits. One message to the store carries the reports and
 * questions of all kinds of requests.
 */
export class LimitStore {
  readonly clock: Clock;
  // A part of a UUID, because it identifies a process well enough, and every stored permit contains it.
  readonly process = randomUUID().slice(0, 13);
  /** How many requests have asked the store for permits so far. The id of each request contains its number. */
  requestCount = 0;
  readonly whenLost: WhenLost;
  /** The gates with something to report in the next message: requests that wait, are in flight, or have ended. */
  readonly gates = new Set<{ part(): Part | undefined }>();
  readonly budgets = new Map<string, FleetBudget>();
  readonly #place: Place;
  readonly #exchange: Exchange;
  #lostSince: number | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #fault: PlaceFault = silence;
  #wasConnected = false;
  /** The message under way. */
  #sending: Promise<void> | undefined;
  /** Whether another message is due after the one under way. */
  #isDue = false;
  #next: { readonly at: number; readonly cancel: Cancel } | undefined;

  constructor(place: Place, whenLost: WhenLost, clock: Clock) {
    this.#place = place;
    this.#exchange = new Exchange(place, this.process, clock);
    this.whenLost = whenLost;
    this.clock = clock;
  }

  /** The least time that a round trip to the store takes, as measured so far. */
  get floorMs(): number {
    return this.#exchange.floor.floorMs;
  }

  get lost(): LostStore | undefined {
    const { share, maxMs } = this.whenLost;
    // If the last failure is old, the store may be available again: let the next call try it.
    const isOld = this.clock.now() - this.#failedAt > silenceMs + graceMs;
    if (this.#lostSince === undefined || isOld) return undefined;
    const { what, cause, isLasting } = this.#fault;
    const closed = isLasting
      ? "calls fail at once, because waiting cannot help"
      : `calls wait, and fail ${maxMs} ms after the loss (maxLostMs)`;
    const then = share > 0 ? `"open", this process uses ${share} of each limit` : `"closed", ${closed}`;
    const why = `${this.#place.name}, which shares the limits, ${what}. Because onLost is ${then}`;
    const givesUpAt = share > 0 ? undefined : this.#lostSince + (isLasting ? 0 : maxMs);
    return { why, cause, givesUpAt, failedAt: this.#failedAt };
  }

  /**
   * The time from which this process may use its share without the store. If the process was ever connected, that is
   * one window after the loss of the store: the permits that any process used before the loss are then free again.
   */
  aloneFrom(windowMs: number): number {
    return (this.#lostSince ?? this.clock.now()) + (this.#wasConnected ? windowMs : 0);
  }

  /**
   * Sends a message in `inMs` milliseconds, unless an earlier one is already scheduled. If `inMs` is 0, sends it at the
   * end of this turn of the event loop.
   */
  sendIn(inMs: number): void {
    if (inMs > 0) {
      const at = this.clock.now() + inMs;
      if (this.#next !== undefined && this.#next.at <= at) return;
      this.#next?.cancel();
      this.#next = { at, cancel: this.clock.after(inMs, () => this.sendIn(0)) };
      return;
    }
    // Send one message at a time, because two messages of one process would conflict when they write the same values in
    // the store.
    this.#isDue = this.#sending !== undefined;
    this.#sending ??= Promise.resolve()
      .then(() => this.#send())
      .finally(() => {
        this.#sending = undefined;
        if (this.#isDue) this.sendIn(0);
      });
  }

  async #send(): Promise<void> {
    this.#isDue = false;
    this.#next?.cancel();
    this.#next = undefined;
    const parts = [...this.gates].flatMap((gate) => gate.part() ?? []);
    if (parts.length === 0) return;
    const budgets = [...new Set(parts.flatMap((part) => part.budgets))];
    const reports = budgets.map((budget) => budget.report());
    const message = {
      process: this.process,
      storeFloorMs: this.floorMs,
      grantAheadMs,
      budgets: reports.map((report) => report.message),
      parts: parts.map(({ message: part, budgets: spent }) => ({
        ...part,
        budgets: spent.map((budget) => budgets.indexOf(budget)),
      })),
    };
    const keys = budgets.map(({ key }) => key);
    const sent = this.#exchange.send(keys, message).then((reply) => {
      this.#lostSince = undefined;
      this.#wasConnected = true;
      // A reply has an item for each budget and part of its message.
      for (const [at, { heard }] of reports.entries()) heard(reply.budgets[at] as BudgetReply, reply);
      for (const [at, part] of parts.entries()) part.heard(reply.parts[at] as PartReply, reply);
      this.#changed();
    });
    try {
      await this.#unlessSilent(sent);
    } catch (error) {
      this.#fault = error === silence ? silence : this.#place.faultOf(error);
      this.#failedAt = this.clock.now();
      this.#lostSince ??= this.#failedAt;
      for (const part of parts) part.failed();
      this.#changed();
    }
  }

  /** Waits for an exchange. @throws `silence` once the place has not responded for `silenceMs`. */
  #unlessSilent(exchange: Promise<void>): Promise<void> {
    const since = this.clock.now();
    let cancel: Cancel | undefined;
    const silent = new Promise<never>((_, reject) => {
      const watch = (): void => {
        const leftMs = Math.max(since, this.#exchange.heardAt) + silenceMs - this.clock.now();
        if (leftMs > 0) cancel = this.clock.after(leftMs, watch, { idle: true });
        else reject(silence);
      };
      watch();
    });
    return Promise.race([exchange, silent]).finally(() => cancel?.());
  }

  /** Checks the waiting requests of all budgets again. */
  #changed(): void {
    for (const budget of this.budgets.values()) budget.changed();
  }

  /** Resolves when no message is under way or due. */
  async #whenSent(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  async close(): Promise<void> {
    this.sendIn(0);
    // Don't wait long: some Redis and database clients queue a command until their server is back, possibly forever.
    await new Promise<void>((resolve) => {
      const cancelTimer = this.clock.after(silenceMs / 3, resolve);
      void this.#whenSent().then(cancelTimer).then(resolve);
    });
  }
}
