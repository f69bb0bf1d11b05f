import type { Clock } from "../runtime/clock.ts";
import { can } from "../runtime/rules.ts";
import type { BudgetName } from "../service/define.ts";
import type { Limit, Limits } from "./limits.ts";
import type { Priority } from "./priority.ts";

/** The parts of a budget that its shared limit uses. */
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

/** Requests of one priority that spend the same budgets. The narrowest budget is the last. */
export interface SharingKind {
  readonly priority: Priority;
  readonly budgets: readonly SharingBudget[];
  /** The queues of waiting requests, one for each client. `slots` counts the client's requests in flight. */
  readonly queues: ReadonlySet<{
    requests(): Iterable<SharingRequest>;
    readonly slots: { readonly max: number; readonly inUse: number };
  }>;
  /** How much of a wider budget this kind may take before the requests that need only that budget. */
  shareOf(budget: SharingBudget): number;
}

/** The parts of a request that shared limits use. */
export interface SharingRequest {
  /** How much the request spends of its narrowest budget. It spends 1 of each other budget. */
  readonly weight: number;
  /** The minimum share of each window that a background request leaves for interactive calls. */
  readonly bounds: { readonly interactiveReserve: number };
  readonly request: { readonly attemptTimeoutMs: number };
}

/** A store of shared limits that is unavailable. */
export interface LostStore {
  /** The second half of a sentence: the problem, and the option that decides what happens meanwhile. */
  readonly why: string;
  readonly cause: unknown;
  /** The time until which calls wait for the store; undefined if they do not wait. */
  readonly givesUpAt: number | undefined;
  /** The last time when the store failed to respond. */
  readonly failedAt: number;
}

/** The end of a request. */
export interface Ending {
  /** The time until the response; undefined if there was none. */
  readonly roundTripMs: number | undefined;
  /** False if the request was never sent. */
  readonly wasSent: boolean;
}

/** Admits the requests of one kind, in agreement with other processes. */
export interface Gate {
  /**
   * The budget without room: its `index` among the kind's budgets, and the earliest time at which it may have room.
   * Undefined if the store has reported no such budget.
   */
  readonly lacks: { readonly index: number; readonly until: number } | undefined;
  /** Sends the store a message soon, even if no request waits. */
  seek(): void;
  /**
   * Requests permits for `request`, the first of its queue, and for the requests behind it. When the store has decided,
   * the gate's store calls `changed` of the budgets.
   *
   * @returns undefined if the request may be sent now; otherwise when to call again, or `Infinity` to wait for
   * `changed`.
   */
  readyAt(request: SharingRequest): number | undefined;
  /** Whether the store has already counted the request. */
  isGranted(request: SharingRequest): boolean;
  /** Whether an admitted request waited so long that the store may no longer count it. It must then not be sent. */
  isLapsed(request: SharingRequest): boolean;
  /** Notes that an admitted request is sent. */
  take(request: SharingRequest): void;
  /** Notes that a request stopped waiting. */
  drop(request: SharingRequest): void;
  /** Notes the end of a request for which `take` was called. */
  settle(request: SharingRequest, how: Ending): void;
}

/** One limit that many processes share, and its daily count. */
export interface SharedBudget extends DayCount {
  /** Why the store is unavailable; undefined while it responds. */
  readonly lost: LostStore | undefined;
  /** The last known number of permits in use by all processes; 0 once all of those permits must be free again. */
  readonly inUse: number;
  /**
   * The permits in use by interactive calls of all processes; undefined without a recent reply or recent interactive
   * calls.
   */
  readonly interactive: number | undefined;
  /** Sets the budget of this shared limit. Called once, before any other method. */
  attach(budget: SharingBudget): void;
  /** Creates the gate for a kind whose narrowest budget is this one. */
  gateOf(kind: SharingKind): Gate;
  /**
   * Records that the response `by` requires a pause of `ms`. The message that reports the end of that request also
   * reports the pause to the store.
   */
  paused(ms: number, by: string): void;
  /** Sends everything to the store that it has not received yet. */
  close(): Promise<void>;
}

/** A daily count: of this process, or of all processes that share it. */
export interface DayCount {
  /** The name of the limit, for example `requestsPerDay`. */
  readonly name: string;
  /** The limit for any 24 hours; `Infinity` for none. */
  readonly max: number;
  /** How much was used in the last 24 hours. */
  readonly used: number;
  /** Whether `weight` more fits now. */
  has(weight: number): boolean;
  /** Counts `weight`; a negative weight returns an unused one. */
  add(weight: number): void;
  /** The number of milliseconds until `weight` more fits. */
  resetsInMs(weight: number): number;
}

/** The numbers of one limit, for its window and its day. */
export interface LimitNumbers {
  /** The limit for the short window. */
  readonly limit: Limit;
  /** The limit for any 24 hours; `Infinity` for none. */
  readonly maxPerDay: number;
  /**
   * The name in `limitScopes` under which all processes count the limit; undefined to count it by the id of the limits.
   */
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
   * Opens the budget of a limit and its daily count. `scope` is the limit's name in `limitScopes`, which applies to the
   * entire store. Without a `scope`, the limit is counted by the id of these limits.
   */
  open(
    name: BudgetName | "sending",
    numbers: LimitNumbers & { readonly scope: string | undefined },
    clock: Clock,
  ): SharedBudget;
}

/** Whether limits are shared between processes. */
export const isShared = (limits: unknown): limits is SharedLimits => can(limits, "open");
