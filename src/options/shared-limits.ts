import type { Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import type { Limit, Limits } from "./limits.ts";

/** A budget, as the source of its permits sees it. */
export interface PermitHolder {
  /** Permits leased now: in hand, in use or cooling. */
  readonly leased: number;
  /** Of those, the ones in hand. */
  readonly idle: number;
  /** Of the idle ones, those that nobody here has needed for `ms`; all of them where nobody waits. */
  spareFor(ms: number): number;
  /** Of those leased, the ones that are called back and leave as they cool. */
  readonly owed: number;
  /** In how many milliseconds the next of those that leave are gone; undefined when none leaves. */
  readonly leavesInMs: number | undefined;
  /** How much sooner than a window after the answer permits come back here, in ms; lost where they change hands. */
  readonly allowanceMs: number;
  /** What the first waiting request lacks; 0 when nobody waits for permits. */
  readonly lacking: number;
  /** Requests that wait. */
  readonly waiters: number;
  /** Whether a pause is on, or the one request that goes first after it is due or on the wire. */
  readonly isProbing: boolean;
  /** Adds `count` permits, which may be used at once. */
  grant(count: number): void;
  /** Takes permits away: those in hand at once, the others as they cool. */
  retire(count: number): void;
  /** Stands still for `ms`, as another process was told to by the answer `by`. */
  pause(ms: number, by?: string): void;
  /** Has those who wait looked at again. */
  changed(): void;
}

/** A store of shared limits that cannot be asked. */
export interface LostStore {
  /** What is wrong, and which setting decides what happens meanwhile, as a sentence goes on with it. */
  readonly why: string;
  readonly cause: unknown;
  /** Until when calls wait for it; undefined where they go without. */
  readonly givesUpAt: number | undefined;
}

/** Where a budget's permits come from: this process alone, or a store that many processes share. */
export interface PermitSource {
  /** Permits that are the budget's before anybody is asked. */
  readonly initial: number;
  /** Whether other processes spend the same budget. */
  readonly isShared: boolean;
  /** Whether the permits in hand may be used now. */
  readonly isValid: boolean;
  /** What keeps the store from being asked; undefined while it answers. */
  readonly lost: LostStore | undefined;
  /** What others that share the budget use of it. */
  readonly usedElsewhere: number;
  /** Names the budget that the permits are for; called once, before anything else. */
  attach(holder: PermitHolder): void;
  /** The budget lacks permits; called again and again while it does. */
  want(): void;
  /** The service asked to stand still for `ms`, with the answer `by`. */
  paused(ms: number, by: string): void;
  /** A request was admitted. */
  used(): void;
  /** A request has ended. */
  settled?(): void;
  /** Gives every permit back. */
  close(): Promise<void>;
}

/** A day's count: of this process, or of all that share it. */
export interface DayCount {
  /** The name of the limit, `requestsPerDay`. */
  readonly name: string;
  /** How much fits into any 24 hours; `Infinity`: anything. */
  readonly max: number;
  /** How much was used in the last 24 hours. */
  readonly used: number;
  /** Whether `weight` more fits now. */
  has(weight: number): boolean;
  /** Counts `weight`; below 0, takes back what was not used after all. */
  add(weight: number): void;
  /** How long until `weight` more fits. */
  freesInMs(weight: number): number;
}

/** The numbers of one limit, for its window and for its day. */
interface LimitNumbers {
  /** Of the short window. */
  readonly limit: Limit;
  /** Of the day; `Infinity` for none. */
  readonly maxPerDay: number;
}

/**
 * Limits that many processes share. `redisLimits` of `touchpoint-sdk/redis` creates them.
 *
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { redisLimits } from "touchpoint-sdk/redis";
 *
 * await using shared = new Client({ limits: redisLimits(redis, { id: "production" }) });
 * ```
 */
export interface SharedLimits {
  /** The limits themselves, the documented ones where none were given. */
  readonly numbers: Limits;
  /** Opens the budget of a limit, and its day. */
  open(
    name: BudgetName,
    numbers: LimitNumbers,
    clock: Clock,
  ): { readonly permits: PermitSource; readonly day: DayCount };
}

/** Tells shared limits from a process's own. */
export const isShared = (limits: unknown): limits is SharedLimits =>
  typeof limits === "object" && limits !== null && "open" in limits && typeof limits.open === "function";
