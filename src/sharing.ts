import type { Clock } from "./clock.ts";
import type { Limit, Limits } from "./limits.ts";
import type { BudgetName } from "./operations/define.ts";

/** A budget, as the source of its permits sees it. */
export interface LeasedBudget {
  /** Permits leased now: in hand, in use or cooling. */
  readonly leased: number;
  /** Of those, the ones in hand. */
  readonly idle: number;
  /** Of those, the ones that are called back and leave as they cool. */
  readonly owed: number;
  /** In how many milliseconds the next of those that leave are gone; undefined when none leaves. */
  readonly leavesInMs: number | undefined;
  /** What the first of those who wait lacks; 0 when nobody waits for permits. */
  readonly lacking: number;
  /** Requests that wait. */
  readonly waiters: number;
  /** Whether a pause is on, or the one request that goes first after it is due or out. */
  readonly isProbing: boolean;
  grant(count: number): void;
  /** Takes permits away: idle ones at once, the others as they cool. */
  retire(count: number): void;
  /** Stands still for `ms`, as another process was told to by the answer `by`. */
  pause(ms: number, by?: string): void;
  /** Has those who wait looked at again. */
  changed(): void;
}

/** Where a budget's permits come from: this process alone, or a store that many processes share. */
export interface LeaseSource {
  /** Permits that are the budget's before anybody is asked. */
  readonly initial: number;
  /** Whether the permits in hand may be used now. */
  readonly isValid: boolean;
  /** Until when a source that is out of reach is waited for; undefined while it is in reach. */
  readonly givesUpAt: number | undefined;
  /** What others that share the budget use of it. */
  readonly usedElsewhere: number;
  attach(budget: LeasedBudget): void;
  /** The budget lacks permits; called again and again while it does. */
  want(): void;
  /** The service asked to stand still for `ms`, with the answer `by`. */
  paused(ms: number, by: string): void;
  /** A request was admitted. */
  used(): void;
  close(): Promise<void>;
}

/** A day's count: of this process, or of all that share it. */
export interface Day {
  readonly name: string;
  readonly max: number;
  readonly used: number;
  has(weight: number): boolean;
  add(weight: number): void;
  /** How long until `weight` more fits. */
  freesInMs(weight: number): number;
}

/** What a budget and its day are made of. */
export interface Allotment {
  readonly leases: LeaseSource;
  readonly day: Day;
}

/** The numbers of one limit, for its window and for its day. */
export interface LimitNumbers {
  readonly limit: Limit;
  readonly maxPerDay: number;
}

/** Where budgets come from when it is not this process alone that spends them. */
export interface Sharing {
  open(name: BudgetName, numbers: LimitNumbers, clock: Clock): Allotment;
}

/** Limits that many processes share; `redisLimits` of `touchpoint-sdk/redis` makes them. */
export interface SharedLimits extends Sharing {
  readonly numbers: Limits;
}

/** Tells shared limits from a process's own. */
export const isShared = (limits: unknown): limits is SharedLimits =>
  typeof limits === "object" && limits !== null && "open" in limits;
