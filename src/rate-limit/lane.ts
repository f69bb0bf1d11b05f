import type { Limit } from "../options/limits.ts";

/** Something that requests share and may have to wait for: a budget, or the slots of a client. */
export interface Resource {
  readonly name: string;
  /** Requests in any lane that wait and will spend this. */
  waiters: number;
  /** Whether `weight` could be taken now. */
  has(weight: number): boolean;
  /** `by` is told again when the use ends. */
  take(weight: number, by: Passage): void;
  /** Told that somebody waits for `weight`: sees to it that the lanes are looked at again in time, by `wake` or its own. */
  want(weight: number, wake: () => void): void;
  /** Told how much of what could be taken now is kept for those who wait for something else. */
  keep(amount: number): void;
  /** Told that nobody waits any more. */
  rest(): void;
  /** How much it lets through in how long. */
  readonly limit: Limit;
  /** How much of that is here: all of it, unless processes share it. */
  readonly leased: number;
  /** In how long `amount` has been let through in batches of `each`; without end where nobody can say. */
  readyInMs(amount: number, each: number): number;
  /** How much of it answered requests of the kind have used that is not back yet. */
  usedBy(kind: Kind): number;
  /** How much of that is back in `ms`; without a kind, of what requests of any have used. */
  backWithin(ms: number, kind?: Kind): number;
}

/** One request on its way through the lanes. */
export interface Passage {
  readonly lane: Lane;
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

/** What all lanes have in common that spend the same budgets, in whatever client. */
export interface Kind {
  /** Requests that have gone and are not answered, and what they weigh. */
  readonly inFlight: { requests: number; weight: number };
}

export const newKind = (): Kind => ({ inFlight: { requests: 0, weight: 0 } });

/** Requests that spend the same resources, in the order in which they came. */
export interface Lane {
  readonly kind: Kind;
  readonly resources: readonly Resource[];
  /** The one resource that is spent by weight; every other is spent by 1. */
  readonly weighted: Resource | undefined;
  readonly queue: Set<Waiter>;
}

export const lane = (
  resources: readonly Resource[],
  weighted: Resource | undefined,
  kind = newKind(),
): Lane => ({ kind, resources, weighted, queue: new Set() });

/** A request of this weight goes. */
export const depart = ({ kind: { inFlight } }: Lane, weight: number): void => {
  inFlight.requests += 1;
  inFlight.weight += weight;
};

/** It is over, whatever became of it. */
export const arrive = ({ kind: { inFlight } }: Lane, weight: number): void => {
  inFlight.requests -= 1;
  inFlight.weight -= weight;
};

/** A lane and who stands first in it. */
export interface Head {
  readonly of: Lane;
  readonly waiter: Waiter;
}

/** How much of the resource a request of this weight spends. */
export const share = (of: Lane, resource: Resource, weight: number): number =>
  resource === of.weighted ? weight : 1;

/** How much of the resource lanes of this kind hold: in flight, or not back yet. */
export const heldBy = ({ kind, weighted }: Lane, resource: Resource): number => {
  const { requests, weight } = kind.inFlight;
  return (resource === weighted ? weight : requests) + resource.usedBy(kind);
};
