import type { Clock } from "../runtime/clock.ts";
import { can } from "../runtime/rules.ts";
import type { BudgetName } from "../service/define.ts";
import type { Limit, Limits } from "./limits.ts";
import type { Priority } from "./priority.ts";

/** A budget, as the shared limit behind it sees it. */
export interface SharingBudget {
  readonly name: BudgetName;
  readonly limit: Limit;
  readonly shared: SharedBudget | undefined;
  /** The remaining time of a pause, in milliseconds; 0 without a pause. */
  readonly pausedForMs: number;
  /** Pauses the budget for `ms`, because of the response `by` in this or another process. */
  pause(ms: number, by?: string): void;
  /** Checks the waiting requests again. */
  changed(): void;
}

/** Requests of one priority that spend the same budgets, the narrowest last. */
export interface SharingKind {
  readonly priority: Priority;
  readonly budgets: readonly SharingBudget[];
  /** Its requests that wait, by client; `slots` says how many of the client's requests may be in flight. */
  readonly queues: ReadonlySet<{
    requests(): Iterable<SharingRequest>;
    readonly slots: { readonly max: number; readonly inUse: number };
  }>;
  /** What requests of this kind may take of a wider budget before requests that need only that one. */
  shareOf(budget: SharingBudget): number;
}

/** A request, as shared limits see it. */
export interface SharingRequest {
  /** How much the request spends of its narrowest budget. It spends 1 of each other budget. */
  readonly weight: number;
  /** The minimum share of each window that a background request leaves for interactive calls. */
  readonly bounds: { readonly interactiveReserve: number };
  readonly request: { readonly attemptTimeoutMs: number };
}

/** A store of shared limits that is unavailable. */
export interface LostStore {
  /** What is wrong, and which option decides what happens meanwhile; the second half of a sentence. */
  readonly why: string;
  readonly cause: unknown;
  /** Until when calls wait for the store; undefined if they do not wait. */
  readonly givesUpAt: number | undefined;
  /** When it last failed to respond. */
  readonly failedAt: number;
}

/** How a request has ended: `roundTripMs` after a response; `wasSent` false if it was never sent. */
export interface Ending {
  readonly roundTripMs: number | undefined;
  readonly wasSent: boolean;
}

/** Decides for the requests of one kind whether they may go, together with other processes. */
export interface Gate {
  /** Which budget of the kind its requests lack, as far as is known, and until when at least. */
  readonly lacks: { readonly place: number; readonly until: number } | undefined;
  /** Tries to reach the store again, although no request waits for it. */
  seek(): void;
  /**
   * Asks for the first request of a queue and those behind it; their budgets learn when the verdict is there.
   *
   * @returns undefined if it may go now; otherwise when to ask again, `Infinity` if only news can tell.
   */
  readyAt(request: SharingRequest): number | undefined;
  /** Whether the store has already counted the request. */
  isGranted(request: SharingRequest): boolean;
  /** Whether the store may no longer count an admitted request, so that its first byte must not be sent. */
  isLapsed(request: SharingRequest): boolean;
  /** Notes that an admitted request is sent. */
  take(request: SharingRequest): void;
  /** Notes that a request stopped waiting. */
  drop(request: SharingRequest): void;
  /** Notes the end of a sent request. */
  settle(request: SharingRequest, how: Ending): void;
}

/** One limit that many processes share, and its daily count. */
export interface SharedBudget extends DayCount {
  /** Why the store is unavailable; undefined while it responds. */
  readonly lost: LostStore | undefined;
  /** How many permits all processes held at last; 0 once those must have returned. */
  readonly inUse: number;
  /** The permits that interactive calls of all processes hold; undefined without recent ones. */
  readonly interactive: number | undefined;
  /** Sets the budget of this shared limit. Called once, before any other method. */
  attach(budget: SharingBudget): void;
  /** Makes what decides for a kind, of which this is the narrowest budget. */
  gateOf(kind: SharingKind): Gate;
  /** The service asked for a pause of `ms` with the response `by`; reported with the end of that request. */
  paused(ms: number, by: string): void;
  /** Tells the store what it does not know yet. */
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
  resetsInMs(weight: number): number;
}

/** The numbers of one limit, for its window and its day. */
export interface LimitNumbers {
  /** For the short window. */
  readonly limit: Limit;
  /** For a day; `Infinity` for none. */
  readonly maxPerDay: number;
  /** The name under which others count it, too; undefined: they count by the id. */
  readonly scope?: string | undefined;
}

/**
 * Limits that many processes share. `redisLimits` of `touchpoint-sdk/redis` and `sqlLimits` of `touchpoint-sdk/sql`
 * create them.
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
  /**
   * Opens the budget of a limit and its daily count. `scope` is its name in `limitScopes`, the same in the whole store;
   * without one, it is counted by the id of these limits.
   */
  open(
    name: BudgetName | "sending",
    numbers: LimitNumbers & { readonly scope: string | undefined },
    clock: Clock,
  ): SharedBudget;
}

/** Whether limits are shared between processes. */
export const isShared = (limits: unknown): limits is SharedLimits => can(limits, "open");
