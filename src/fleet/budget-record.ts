import type { DaySlots } from "../rate-limit/permits.ts";
import type { BudgetMessage, StoreTime } from "./messages.ts";

/** The format of a record, so that another version of the package does not misread it. */
export const format = 1;

/**
 * After this time without a message, a process counts as dead. After this time without an answer, a store is
 * unavailable.
 */
export const silenceMs = 3_000;
// A smaller deviation does not count as a step of a clock, because no two clocks run equally fast.
export const graceMs = 1_000;

/**
 * A granted request. It may go from `usableAt`, holds its permits at most `leaseMs` longer, and they then cool down.
 */
interface InFlight {
  readonly amount: number;
  readonly usableAt: number;
  readonly leaseMs: number;
  readonly coolMs: number;
}

/** The permits of a request that has ended: when they are free, and the round-trip floors of the request's process. */
interface Cooling {
  readonly amount: number;
  readonly ends: number;
  readonly floorMs: number;
  readonly storeFloorMs: number;
}

/** The permits of one kind of requests in one process, by request. */
export interface Holder {
  readonly process: string;
  readonly kind: string;
  /** When the process last sent a message. */
  heardAt: number;
  readonly permits: Record<string, InFlight | Cooling>;
}

/**
 * The order of admission: 0 for background work that is due, 1 for interactive requests, 2 for other background work.
 */
export const ranks = [0, 1, 2] as const;
export type Rank = (typeof ranks)[number];

/** The first waiting request of one kind in one process. */
export interface Waiter {
  readonly process: string;
  rank: Rank;
  readonly id: string;
  /** The order in which requests became the first of their kind and process. */
  readonly turn: number;
  /** Whether the request also needs a narrower budget. */
  readonly isWide: boolean;
  /** The permits that the request needs, and the permits that it and the requests behind it want together. */
  readonly need: number;
  readonly want: number;
  /** When the entry expires. */
  readonly ends: number;
}

/** The state of a budget that processes share: plain data, which a store keeps as JSON. */
export interface BudgetRecord {
  readonly format: typeof format;
  /** The number of messages that have changed the record. */
  writes: number;
  /** Identifies the record. A record that replaces a lost one has another value. */
  readonly born: string;
  readonly bornAt: number;
  /**
   * How far the store's clock is ahead of the record's time, see `timeOf`. All other times are in the record's time.
   */
  aheadMs: number;
  /** When the last message was applied. */
  heardAt: number;
  /** Until when nothing is granted. */
  blockedUntil: number;
  readonly holders: Record<string, Holder>;
  readonly waiters: Record<string, Waiter>;
  /** The shares of kinds that also need a narrower budget, by process and kind, and when they end. */
  readonly kinds: Record<string, { readonly kind: string; readonly share: number; readonly ends: number }>;
  day: DaySlots;
  /** The last known daily use before the store lost its data. */
  before: number;
  beforeUntil: number;
  /** The turn of the next waiter. */
  turn: number;
  /** Until when background work leaves a reserve for interactive calls. */
  interactiveUntil: number;
  /** When the last background request was granted. */
  backgroundAt: number;
  pausedUntil: number;
  pausedBy: string;
  /** The id of the request in flight that goes alone after a pause; an empty string for none. */
  probe: string;
  isProbeDue: boolean;
}

export const isInteractive = (kind: string): boolean => kind.startsWith("interactive");

export const newRecord = (now: number, process: string): BudgetRecord => ({
  format,
  writes: 0,
  born: `${now} ${process}`,
  bornAt: now,
  aheadMs: 0,
  heardAt: now,
  blockedUntil: 0,
  holders: {},
  waiters: {},
  kinds: {},
  day: [],
  before: 0,
  beforeUntil: 0,
  turn: 0,
  interactiveUntil: 0,
  backgroundAt: 0,
  pausedUntil: 0,
  pausedBy: "",
  probe: "",
  isProbeDue: false,
});

/**
 * Returns the time of the state. This time follows the store's clock, but skips its steps: steps back, and steps
 * forward that are longer than the clock of the message's process explains. After a step, the time continues from the
 * time that has certainly passed.
 *
 * A step forward stays undetected if the process has received no reply about this state since the last step: it may
 * also be a time without messages. A message that took long to arrive looks like a step.
 */
export const timeOf = (
  state: BudgetRecord,
  { last }: Pick<BudgetMessage, "last">,
  time: StoreTime,
): number => {
  const now = time.now - state.aheadMs;
  const isKnown = last !== undefined && last.born === state.born && last.aheadMs === state.aheadMs;
  const knownTime = isKnown ? Math.floor(last.at + time.sentAt - last.heardAt) : state.heardAt;
  const certain = Math.max(state.heardAt, knownTime);
  const isBack = now < Math.max(state.heardAt, certain - graceMs);
  const isForward = isKnown && now > certain + graceMs + last.heardAt - last.sentAt;
  if (!isBack && !isForward) return now;
  state.aheadMs = time.now - certain;
  return certain;
};

/**
 * Returns when a permit is certainly free. A permit in flight cools down after its lease, or after its process has
 * died.
 */
export const endOf = (holder: Holder, permit: InFlight | Cooling): number => {
  if ("ends" in permit) return permit.ends;
  const { usableAt, leaseMs, coolMs } = permit;
  return Math.min(usableAt + leaseMs, Math.max(usableAt, holder.heardAt) + silenceMs) + coolMs;
};
