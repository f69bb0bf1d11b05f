import type { SharingRequest } from "../options/shared-limits.ts";
import { coolMs } from "../rate-limit/permits.ts";
import type { Ask, Settled } from "./exchange.ts";
import { RedisBudget } from "./shared-budget.ts";

/** A request on its way through the limits. */
export interface Ticket {
  readonly id: string;
  /** When it may go, and until when; undefined before it was granted. */
  granted: { readonly from: number; readonly until: number } | undefined;
  isGone: boolean;
}

/** Requests of one kind. */
export interface Lane {
  readonly queues: Set<SharingRequest["queue"]>;
  /** Waiting requests that Redis was asked for. */
  readonly tickets: Map<SharingRequest, Ticket>;
  /** Whether the next message asks for them. */
  isDue: boolean;
  /** The unanswered question. */
  underWay: Asked | undefined;
  askAt: number;
  /** The last one that left, if none waits any more. */
  left: SharingRequest | undefined;
  lacks: { readonly name: string; readonly until: number } | undefined;
}

/** A question about requests of one kind; none of them: that kind waits no longer. */
export interface Asked {
  readonly lane: Lane;
  readonly first: SharingRequest;
  readonly requests: readonly (readonly [SharingRequest, Ticket])[];
}

export const budgetsOf = ({ queue }: SharingRequest): readonly RedisBudget[] =>
  queue.kind.budgets.flatMap(({ shared }) => (shared instanceof RedisBudget ? [shared] : []));

/** Each budget of a request, with what it spends of it. */
export const spendingOf = (request: SharingRequest): readonly (readonly [RedisBudget, number])[] =>
  budgetsOf(request).map((budget, at, { length }) => [budget, at === length - 1 ? request.weight : 1]);

const kindOf = ({ queue: { kind } }: SharingRequest): string =>
  `${kind.priority} ${kind.budgets.map(({ name }) => name).join("+")}`;

export const newLane = (): Lane => ({
  queues: new Set(),
  tickets: new Map(),
  isDue: false,
  underWay: undefined,
  askAt: Number.NEGATIVE_INFINITY,
  left: undefined,
  lacks: undefined,
});

const mostAsked = 100;

/** The waiting requests of a lane that have slots and no permits. */
export const ungranted = ({ queues, tickets }: Lane): readonly SharingRequest[] =>
  [...queues].flatMap((queue) => {
    const most = Math.min(queue.slots.room, mostAsked);
    const waiting: SharingRequest[] = [];
    for (const request of queue.requests()) {
      if (waiting.length >= most) break;
      waiting.push(request);
    }
    if (waiting.length === 0) queues.delete(queue);
    return waiting.filter((request) => tickets.get(request)?.granted === undefined);
  });

/** Interactive requests are asked for first. */
export const rankOf = ({ first }: Asked): number => (first.queue.kind.priority === "interactive" ? 0 : 1);

/** The question as it is sent; `at` are the places of its budgets in the message. */
export const askOf = ({ first, requests }: Asked, at: readonly number[], usableMs: number): Ask => {
  const { kind } = first.queue;
  return {
    kind: kindOf(first),
    at,
    shares: kind.budgets.map((budget) => kind.shareOf(budget)),
    leastReserve: first.leastReserve,
    leaseMs: usableMs + first.attemptTimeoutMs,
    requests: requests.map(([{ weight }, { id }]) => ({ id, weight })),
  };
};

/** A request that has ended, and when. */
export interface Ended extends Pick<Settled, "id" | "wasSent" | "wasAnswered"> {
  readonly request: SharingRequest;
  readonly endedAt: number;
}

/** It as it is sent now: what has passed since its end is part of its window. */
export const settledOf = (
  { request, endedAt, ...told }: Ended,
  at: readonly number[],
  now: number,
): Settled => ({
  ...told,
  at,
  kind: kindOf(request),
  weight: request.weight,
  coolMs: spendingOf(request).map(
    ([{ limit }, weight]) => coolMs(limit, weight, told.wasAnswered) - (now - endedAt),
  ),
});
