import type { SharingRequest } from "../options/shared-limits.ts";
import { coolMs } from "../rate-limit/permits.ts";
import type { Ask, Settled } from "./exchange.ts";
import { RedisBudget } from "./shared-budget.ts";

/** A request on its way through the limits. */
export interface Ticket {
  readonly id: string;
  /** When it may go, and until when; undefined before it was granted. */
  granted: { readonly from: number; readonly until: number } | undefined;
  /** Whether it goes without Redis. */
  isAlone: boolean;
  isTaken: boolean;
}

/** Requests of one kind. */
export interface Lane {
  readonly heads: Set<SharingRequest>;
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
  readonly requests: readonly SharingRequest[];
  readonly tickets: readonly Ticket[];
}

export const budgetsOf = ({ queue }: SharingRequest): readonly RedisBudget[] =>
  queue.kind.budgets.flatMap(({ shared }) => (shared instanceof RedisBudget ? [shared] : []));

/** Each budget of a request, with what it spends of it. */
export const spendingOf = (request: SharingRequest): readonly (readonly [RedisBudget, number])[] => {
  const budgets = budgetsOf(request);
  return budgets.map((budget) => [budget, budget === budgets.at(-1) ? request.weight : 1]);
};

const kindOf = ({ queue: { kind } }: SharingRequest): string =>
  `${kind.priority} ${kind.budgets.map(({ name }) => name).join("+")}`;

export const newLane = (): Lane => ({
  heads: new Set(),
  isDue: false,
  underWay: undefined,
  askAt: Number.NEGATIVE_INFINITY,
  left: undefined,
  lacks: undefined,
});

const mostAsked = 100;

/** The waiting requests of a lane that have slots: as many as may be asked for. */
export const waitingIn = (lane: Lane): readonly SharingRequest[] => {
  const requests: SharingRequest[] = [];
  for (const { queue } of lane.heads) {
    let left = Math.min(queue.slots.room, mostAsked);
    for (const one of queue.requests()) {
      if (left <= 0) break;
      requests.push(one);
      left -= 1;
    }
  }
  return requests;
};

/** Interactive requests are asked for first. */
export const rankOf = ({ first }: Asked): number => (first.queue.kind.priority === "interactive" ? 0 : 1);

/** The question as it is sent; `at` are the places of its budgets in the message. */
export const askOf = ({ first, requests, tickets }: Asked, at: readonly number[], usableMs: number): Ask => {
  const { kind } = first.queue;
  return {
    kind: kindOf(first),
    at,
    shares: kind.budgets.map((budget) => kind.shareOf(budget)),
    leastReserve: first.leastReserve,
    leaseMs: usableMs + first.attemptTimeoutMs,
    requests: requests.map(({ weight }, place) => ({ id: tickets[place]?.id ?? "", weight })),
  };
};

/** A request that has ended. */
export interface Ended {
  readonly request: SharingRequest;
  readonly id: string;
  readonly wasSent: boolean;
  readonly wasAnswered: boolean;
  readonly endedAt: number;
}

/** It as it is sent now: what has passed since its end is part of its window. */
export const settledOf = (
  { request, id, wasSent, wasAnswered, endedAt }: Ended,
  at: readonly number[],
  now: number,
): Settled => ({
  ...{ id, kind: kindOf(request), at, weight: request.weight, wasSent, wasAnswered },
  coolMs: spendingOf(request).map(
    ([{ limit }, weight]) => coolMs(limit, weight, wasAnswered) - (now - endedAt),
  ),
});
