import type { SharingRequest } from "../options/shared-limits.ts";
import type { Ask, Settled } from "./exchange.ts";
import { RedisBudget } from "./shared-budget.ts";

/** A request on its way through the limits. */
export interface Ticket {
  readonly id: string;
  /** When it may go, and until when; undefined before it was granted. */
  granted: { readonly from: number; readonly until: number } | undefined;
  /** Whether it goes without Redis. */
  isAlone: boolean;
  isGone: boolean;
}

/** Requests of one kind. */
export interface Lane {
  readonly heads: Set<SharingRequest>;
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
  readonly requests: readonly SharingRequest[];
  readonly tickets: readonly Ticket[];
}

export const budgetsOf = ({ queue }: SharingRequest): readonly RedisBudget[] =>
  queue.kind.budgets.flatMap(({ shared }) => (shared instanceof RedisBudget ? [shared] : []));

const weightsOf = ({ weight, queue }: SharingRequest): readonly number[] =>
  queue.kind.budgets.map((_, at) => (at === queue.kind.budgets.length - 1 ? weight : 1));

/** Each budget of a request, with what it spends of it. */
export const spendingOf = (request: SharingRequest): readonly (readonly [RedisBudget, number])[] => {
  const weights = weightsOf(request);
  return budgetsOf(request).map((budget, at) => [budget, weights[at] ?? 1]);
};

const amountsOf = (request: SharingRequest): readonly number[] =>
  spendingOf(request).map(([{ limit }, weight]) => Math.min(weight, limit.max));

const kindOf = ({ queue: { kind } }: SharingRequest): string =>
  `${kind.priority} ${kind.budgets.map(({ name }) => name).join("+")}`;

export const newLane = (): Lane => ({
  heads: new Set(),
  tickets: new Map(),
  isDue: false,
  underWay: undefined,
  askAt: Number.NEGATIVE_INFINITY,
  left: undefined,
  lacks: undefined,
});

const mostAsked = 100;

/** The waiting requests of a lane that have slots and no permits. */
export const ungranted = (lane: Lane): readonly SharingRequest[] => {
  const requests: SharingRequest[] = [];
  for (const head of lane.heads) {
    let left = Math.min(head.queue.slots.room, mostAsked);
    for (const one of head.queue.requests()) {
      if (left <= 0) break;
      if (lane.tickets.get(one)?.granted === undefined) requests.push(one);
      left -= 1;
    }
  }
  return requests;
};

/** The request waits no longer. */
export const forget = (lane: Lane, request: SharingRequest): void => {
  lane.heads.delete(request);
  lane.tickets.delete(request);
};

/** Interactive requests are asked for first. */
export const rankOf = ({ first }: Asked): number => (first.queue.kind.priority === "interactive" ? 0 : 1);

/** The question as it is sent; `at` are the places of its budgets in the message. */
export const askOf = ({ first, requests, tickets }: Asked, at: readonly number[], usableMs: number): Ask => {
  const { kind } = first.queue;
  return {
    kind: kindOf(first),
    isInteractive: kind.priority === "interactive",
    at,
    shares: kind.budgets.map((budget) => kind.shareOf(budget)),
    leastReserve: first.leastReserve,
    leaseMs: usableMs + first.attemptTimeoutMs,
    requests: requests.map((request, place) => ({
      id: tickets[place]?.id ?? "",
      amounts: amountsOf(request),
      weights: weightsOf(request),
    })),
  };
};

/** What is sent about a request that has ended. */
export const toldOf = (
  request: SharingRequest,
  how: Pick<Settled, "id" | "wasSent" | "wasAnswered">,
): Omit<Settled, "at"> => {
  const coolMs = spendingOf(request).map(([budget, weight]) => budget.coolMs(weight, how.wasAnswered));
  return { ...how, kind: kindOf(request), amounts: amountsOf(request), weights: weightsOf(request), coolMs };
};

/** A request that has ended, and when. */
export interface Ended {
  readonly budgets: readonly RedisBudget[];
  readonly told: Omit<Settled, "at">;
  readonly endedAt: number;
}

/** It as it is sent now: what has passed since its end is part of its window. */
export const settledOf = ({ told, endedAt }: Ended, at: readonly number[], now: number): Settled => ({
  ...told,
  at,
  coolMs: told.coolMs.map((ms) => ms - (now - endedAt)),
});
