import type { Limit } from "../limits.ts";

/** Something that requests share and may have to wait for: a budget, or the slots of a client. */
export interface Resource {
  readonly name: string;
  /** Requests in any lane that wait and will spend this. */
  waiters: number;
  /** Whether `weight` could be taken now. */
  has(weight: number): boolean;
  /** `by` is told again when the use ends. */
  take(weight: number, by: Passage): void;
  /** Told that somebody waits for `weight`: sees to it that the lanes are looked at again in time. */
  want(weight: number): void;
  /** Told that nobody waits any more. */
  rest(): void;
  /** How much it lets through in how long. */
  readonly limit: Limit;
  /** How long the next request has to wait at least; without end where nobody can say. */
  waitMs(): number;
}

/** One request on its way through the lanes. */
export interface Passage {
  readonly weight: number;
  readonly signal: AbortSignal | undefined;
  /** Why it shall not wait, nor go; undefined when it may. */
  refusal(): Error | undefined;
  /** Told at the moment at which it may go, before anybody else is looked at. */
  admitted(): void;
  /** Told whenever it has come to be the first of its line, and still has to wait. */
  stopped(): void;
}

/** A request that waits in a lane. */
export interface Waiter {
  /** Its place among all that wait. */
  readonly order: number;
  readonly passage: Passage;
  readonly go: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** Requests that spend the same resources, in the order in which they came. */
export interface Lane {
  readonly resources: readonly Resource[];
  /** The one resource that is spent by weight; every other is spent by 1. */
  readonly weighted: Resource | undefined;
  readonly queue: Set<Waiter>;
}

export const lane = (resources: readonly Resource[], weighted: Resource | undefined): Lane => ({
  resources,
  weighted,
  queue: new Set(),
});

/** How much of the resource a request of this weight spends. */
export const share = (of: Lane, resource: Resource, weight: number): number =>
  resource === of.weighted ? weight : 1;
