import { ConnectionError, RateLimitError } from "../errors.ts";
import type { Scope } from "../http/scope.ts";
import { BatchTooLarge } from "../http/types.ts";
import type { SharingRequest } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { Kind, KnownWait } from "./kind.ts";

const never = Number.POSITIVE_INFINITY;

/** How long a client waits. */
export interface WaitBounds {
  /** A longer pause is not waited for. */
  readonly maxRetryAfterMs: number;
  /** The smallest share of each window that its background work leaves while there are interactive calls. */
  readonly interactiveReserve: number;
  /** How many interactive requests may wait at once. */
  readonly maxQueued: number;
  readonly clock: Clock;
}

/** A request that waits, or may have to. */
export interface Waiter extends SharingRequest {
  readonly scope: Scope;
  readonly queue: {
    readonly kind: Kind;
    readonly slots: ConcurrencyLimit;
    requests(): Iterable<SharingRequest>;
  };
  readonly bounds: WaitBounds;
  /** When its wait started. */
  readonly since: number;
}

/** A duration in words. */
const inWords = (ms: number): string => {
  if (ms < 120_000) return `${Math.ceil(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.ceil(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
};

/** What a request without permits of this budget waits for. */
export const limitOf = ({ name, shared }: Budget): string => shared?.lost?.why ?? `the limit ${name}`;

/** The error of a request that was not sent because of `limit`; `waitMs` as far as it is known. */
const refusedFor = (scope: Scope, limit: string, why: string, waitMs?: number): RateLimitError =>
  new RateLimitError(`${scope.operation.id}: not sent, ${why}`, {
    ...scope.progress,
    status: 429,
    headers: new Headers(),
    body: undefined,
    retryAfterMs: waitMs,
    limit,
  });

/** How long the request may still wait, and what says so. */
const boundOf = ({ scope: { waits, deadlineAt = never }, bounds, since }: Waiter) => {
  const now = bounds.clock.now();
  const waitLeftMs = waits?.waitLeftMs ?? never;
  const ms = Math.min(waitLeftMs - (now - since), deadlineAt - now);
  const name = deadlineAt - now <= waitLeftMs ? "totalTimeoutMs" : "maxWaitMs";
  return { ms, name };
};

const inBound = ({ ms, name }: ReturnType<typeof boundOf>): string =>
  `${Math.max(0, Math.round(ms))} ms are left of ${name}`;

/** Why a pause of this budget is not waited for. */
const refusalOfPause = (waiter: Waiter, { name, pausedForMs }: Budget): Error | undefined => {
  if (pausedForMs === 0) return undefined;
  const bound = boundOf(waiter);
  const isTooLong = pausedForMs > waiter.bounds.maxRetryAfterMs;
  if (!isTooLong && pausedForMs <= bound.ms) return undefined;
  const what = `the service asked to send nothing on ${name} for another ${inWords(pausedForMs)}`;
  const why = isTooLong ? `${what}, which is longer than maxRetryAfterMs` : `${what}: ${inBound(bound)}`;
  return refusedFor(waiter.scope, name, why, pausedForMs);
};

/** Why a request may neither wait nor go; undefined if it may. */
export const refusal = (waiter: Waiter): Error | undefined => {
  const { scope, weight, leastReserve } = waiter;
  const { kind } = waiter.queue;
  for (const budget of kind.budgets) {
    const { day, shared } = budget;
    const spent = kind.weightOf(budget, weight);
    if (!day.has(spent)) {
      const waitMs = day.resetsInMs(spent);
      const why = `${day.name} is used up (${day.used} of ${day.max}); more frees in ${inWords(waitMs)}`;
      return refusedFor(scope, day.name, why, waitMs);
    }
    const lost = shared?.lost;
    if (lost !== undefined && (lost.givesUpAt ?? never) <= waiter.bounds.clock.now()) {
      // No request may wait for the store any more: who else would look for it again?
      shared?.seek();
      return new ConnectionError(`${scope.operation.id}: not sent, ${lost.why}`, {
        ...scope.progress,
        cause: lost.cause,
      });
    }
    const refused = refusalOfPause(waiter, budget);
    if (refused !== undefined) return refused;
  }
  if (!scope.plan.isDivisible) return undefined;
  const most = kind.cutTo(weight, leastReserve);
  return most === undefined ? undefined : new BatchTooLarge(most);
};

/** The error of a request that may not wait any longer. */
export const refusedWait = (waiter: Waiter, why: string): RateLimitError => {
  const { scope, weight } = waiter;
  const { kind, slots } = waiter.queue;
  const { ms, budget } = kind.knownWait(weight);
  const isKnown =
    kind.gate === undefined ? ms > 0 || !budget.has(kind.amountOf(budget, weight)) : !slots.isFull;
  if (!isKnown) return refusedFor(scope, slots.name, `${why} (for ${slots.name})`);
  const waitMs = Math.max(1, ms, kind.gate?.lacks(waiter)?.ms ?? budget.waitMs());
  return refusedFor(scope, budget.name, `${why} (for ${limitOf(budget)})`, waitMs);
};

/** Why a request may not start to wait, if it has to wait at least that long. */
export const refusalOfWait = (waiter: Waiter, { ms, budget }: KnownWait): Error | undefined => {
  const { scope, bounds } = waiter;
  const { kind, slots } = waiter.queue;
  const isCounted = kind.priority === "interactive" && !scope.plan.isDrained;
  if (isCounted && slots.waiting.interactive > bounds.maxQueued)
    return refusedWait(waiter, `maxQueued (${bounds.maxQueued}) calls wait already`);
  const bound = boundOf(waiter);
  if (ms <= bound.ms) return undefined;
  const why = `it would wait ${inWords(ms)} for the limit ${budget.name}: ${inBound(bound)}`;
  return refusedFor(scope, budget.name, why, ms);
};

export type Resource = Budget | ConcurrencyLimit;

/** What a request lacks. */
interface Lack {
  readonly of: Resource;
  /** Whether later requests must not take it either. */
  readonly isForAll: boolean;
  /** When to look again, if nothing ends before. */
  readonly until?: number;
}

const nothing: readonly Lack[] = [];

/**
 * What keeps a request from going now; nothing if it may go.
 *
 * @param sharing - the kinds with more than one budget whose requests wait or are in flight.
 */
export const lacksOf = (waiter: Waiter, sharing: readonly Kind[]): readonly Lack[] => {
  const { queue, weight, leastReserve } = waiter;
  const { kind, slots } = queue;
  if (slots.isFull) return [{ of: slots, isForAll: true }];
  if (kind.gate !== undefined)
    return kind.gate.admits(waiter) ? nothing : [{ of: kind.narrowest, isForAll: false }];
  const hasReserve = kind.priority === "background" && !isDue(waiter);
  let lacks = nothing;
  for (const budget of kind.budgets) {
    const amount = kind.amountOf(budget, weight);
    const reserve = hasReserve ? budget.keptFromBackground(amount, leastReserve) : 0;
    const shares = keptForShares(kind, budget, sharing);
    const until = budget.readyAt(amount, reserve + shares);
    if (until === undefined) continue;
    // A request that is delayed only by the share of others must not delay those others.
    lacks = [...lacks, { of: budget, isForAll: shares === 0 || !budget.has(amount, reserve), until }];
  }
  return lacks;
};

/**
 * Whether a background request goes before interactive ones: in each of its budgets, background had less than its
 * tenth.
 */
export const isDue = ({ queue: { kind }, weight }: Waiter): boolean =>
  kind.budgets.every((budget) => budget.isBackgroundDue(kind.amountOf(budget, weight)));

/** The largest part of a wide budget that is kept for all kinds together. */
const mostForAll = 9 / 10;

/**
 * How many permits of a budget a request of this kind leaves for requests that also need a narrower budget: what is
 * missing of their shares. Otherwise requests without a narrower budget could take all permits in a burst, and leave
 * none when the narrower budget has room.
 *
 * @param sharing - the kinds with more than one budget; those count that wait or are in flight.
 */
export const keptForShares = (kind: Kind, budget: Budget, sharing: readonly Kind[]): number => {
  if (budget !== kind.narrowest) return 0;
  let lacking = 0;
  let held = 0;
  for (const other of sharing) {
    if (!other.isActive || other.narrowest === budget || !other.budgets.includes(budget)) continue;
    // Interactive calls leave nothing for background ones except their tenth.
    if (kind.priority === "interactive" && other.priority === "background") continue;
    const has = budget.heldOf(other);
    held += has;
    lacking += Math.max(0, other.shareOf(budget) - has);
  }
  return Math.max(0, Math.min(lacking, Math.ceil(budget.limit.max * mostForAll) - held));
};
