import type { DaySlots } from "../rate-limit/permits.ts";
import type { BudgetMessage } from "./messages.ts";

/** Of a record. Another version of the package must not misread it. */
export const format = 1;

/** A process that has sent no message for so long is dead; a store that has not answered for so long is unavailable. */
export const silenceMs = 3_000;
// No two clocks run equally fast: less is no step of a clock.
export const graceMs = 1_000;

/** A request in flight holds its permits from `usableAt`, at most for `leaseMs`; then they cool down for `coolMs`. */
interface InFlight {
  readonly amount: number;
  readonly usableAt: number;
  readonly leaseMs: number;
  readonly coolMs: number;
}

/** The permits of a request that has ended, until when, and the floors of the round trips of its process. */
interface Cooling {
  readonly amount: number;
  readonly ends: number;
  readonly floorMs: number;
  readonly storeFloorMs: number;
}

/** The permits of requests of one kind of one process, by request. */
export interface Holder {
  readonly process: string;
  readonly kind: string;
  /** When the process last sent a message. */
  heardAt: number;
  readonly permits: Record<string, InFlight | Cooling>;
}

/** Who goes first: 0 for background work that is due, 1 for interactive requests, 2 for other background work. */
export const ranks = [0, 1, 2] as const;
export type Rank = (typeof ranks)[number];

/** The first waiting request of a kind of one process. */
export interface Waiter {
  readonly process: string;
  rank: Rank;
  readonly id: string;
  /** When it became the first, in the order of all. */
  readonly turn: number;
  readonly isWide: boolean;
  /** What it needs, and what it and those behind it want together. */
  readonly need: number;
  readonly want: number;
  readonly ends: number;
}

/** The state of a budget that processes share: plain data, which a store keeps as JSON. */
export interface BudgetRecord {
  readonly format: typeof format;
  /** How many messages have changed it. */
  writes: number;
  readonly born: string;
  readonly bornAt: number;
  aheadMs: number;
  heardAt: number;
  blockedUntil: number;
  readonly holders: Record<string, Holder>;
  readonly waiters: Record<string, Waiter>;
  /** The shares of kinds that also need a narrower budget, by process, and until when they are kept. */
  readonly kinds: Record<string, { readonly kind: string; readonly share: number; readonly ends: number }>;
  day: DaySlots;
  /** What was used in the day before the store lost its data. */
  before: number;
  beforeUntil: number;
  turn: number;
  interactiveUntil: number;
  backgroundAt: number;
  pausedUntil: number;
  pausedBy: string;
  /** The request in flight that goes alone after a pause; an empty text for none. */
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
 * The time of the state: the store's clock, unless that stepped back, or forward by more than the process's own clock
 * explains. Then it continues from what is certain to have passed. Who knows no time of this state, or one from before the
 * last step, cannot tell a step forward from silence. A message that was on its way for long looks like a step.
 */
export const timeOf = (state: BudgetRecord, clock: number, own: BudgetMessage): number => {
  const now = clock - state.aheadMs;
  const isKnown = own.born === state.born && own.aheadMs === state.aheadMs;
  const certain = isKnown ? Math.max(state.heardAt, Math.floor(own.knownAt + own.ageMs)) : state.heardAt;
  const isBack = now < Math.max(state.heardAt, certain - graceMs);
  const isForward = isKnown && now > certain + graceMs + own.tripMs;
  if (!isBack && !isForward) return now;
  state.aheadMs = clock - certain;
  return certain;
};

/** When a permit is free for sure. In flight: when its request can no longer take place, or its process is dead. */
export const endOf = (holder: Holder, permit: InFlight | Cooling): number => {
  if ("ends" in permit) return permit.ends;
  const { usableAt, leaseMs, coolMs } = permit;
  return Math.min(usableAt + leaseMs, Math.max(usableAt, holder.heardAt) + silenceMs) + coolMs;
};
