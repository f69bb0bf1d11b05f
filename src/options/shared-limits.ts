import type { Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import type { Limit, Limits } from "./limits.ts";

/** A budget, as the source of its permits sees it. */
export interface PermitHolder {
  /** Permits leased now: idle, in use, or cooling down. */
  readonly leased: number;
  /** Of the leased permits, the idle ones. */
  readonly idle: number;
  /** Of the idle permits, those that no request here needed for `ms`; all of them if no request waits. */
  spareFor(ms: number): number;
  /** Of the leased permits, those that another process asked for. They leave when they have cooled down. */
  readonly owed: number;
  /** In how many milliseconds the next permit leaves; undefined if none leaves. */
  readonly leavesInMs: number | undefined;
  /** How many ms before "answer plus window" permits may be reused here. This does not apply to another process. */
  readonly allowanceMs: number;
  /** How many permits the first waiting request lacks; 0 if none waits for permits. */
  readonly lacking: number;
  /** The number of waiting requests. */
  readonly waiters: number;
  /** Interactive calls here: how many wait, how many permits they hold, and for how long a reserve is left for them. */
  readonly interactive: { readonly waiting: number; readonly held: number; readonly ms: number };
  /** Whether the budget is paused, or the probe after a pause is due or in flight. */
  readonly isProbing: boolean;
  /** Adds `count` permits, which may be used at once. */
  grant(count: number): void;
  /** Removes permits: idle ones at once, the others when they have cooled down. */
  retire(count: number): void;
  /** Pauses for `ms`, because another process got the response `by`. */
  pause(ms: number, by?: string): void;
  /** Checks the waiting requests again. */
  changed(): void;
}

/** A store of shared limits that is unavailable. */
export interface LostStore {
  /** What is wrong, and which option decides what happens meanwhile; the second half of a sentence. */
  readonly why: string;
  readonly cause: unknown;
  /** Until when calls wait for the store; undefined if they do not wait. */
  readonly givesUpAt: number | undefined;
}

/** The source of a budget's permits: this process alone, or a store that many processes share. */
export interface PermitSource {
  /** Permits that the budget has from the start. */
  readonly initial: number;
  /** Whether other processes spend the same budget. */
  readonly isShared: boolean;
  /** Whether the idle permits may be used now. */
  readonly isValid: boolean;
  /** Why the store is unavailable; undefined while it responds. */
  readonly lost: LostStore | undefined;
  /** How much of the budget other processes use. */
  readonly usedElsewhere: number;
  /** The permits that interactive calls of other processes need, at least 1; absent without such calls. */
  readonly interactiveElsewhere?: number | undefined;
  /** Sets the budget that the permits are for. Called once, first. */
  attach(holder: PermitHolder): void;
  /** The budget lacks permits. Called repeatedly while it does. */
  want(): void;
  /** The service asked for a pause of `ms` with the response `by`. */
  paused(ms: number, by: string): void;
  /** A request was admitted. */
  used(): void;
  /** A request has ended. */
  settled?(): void;
  /** Returns all permits. */
  close(): Promise<void>;
}

/** A daily count: of this process, or of all processes that share it. */
export interface DayCount {
  /** The name of the limit, `requestsPerDay`. */
  readonly name: string;
  /** The limit for any 24 hours; `Infinity` for none. */
  readonly max: number;
  /** How much was used in the last 24 hours. */
  readonly used: number;
  /** Whether `weight` more fits now. */
  has(weight: number): boolean;
  /** Counts `weight`; a negative one returns what was not used. */
  add(weight: number): void;
  /** In how many milliseconds `weight` more fits. */
  freesInMs(weight: number): number;
}

/** The numbers of one limit, for its window and its day. */
interface LimitNumbers {
  /** For the short window. */
  readonly limit: Limit;
  /** For a day; `Infinity` for none. */
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
  /** The limits; the documented ones by default. */
  readonly numbers: Limits;
  /** Opens the budget of a limit and its daily count. */
  open(
    name: BudgetName,
    numbers: LimitNumbers,
    clock: Clock,
  ): { readonly permits: PermitSource; readonly day: DayCount };
}

/** Whether limits are shared between processes. */
export const isShared = (limits: unknown): limits is SharedLimits =>
  typeof limits === "object" && limits !== null && "open" in limits && typeof limits.open === "function";
