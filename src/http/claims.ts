import { type Lane, type Resource, share, type Waiter } from "./lane.ts";

/** A lane whose first request lacks something, and what that is. */
export interface Stopped {
  readonly of: Lane;
  readonly waiter: Waiter;
  readonly missing: readonly Resource[];
}

interface Demand {
  /** In how long it has to be there. */
  readonly inMs: number;
  readonly amount: number;
}

// Of a longer line the end is kept for once it has come nearer.
const mostLookedAt = 100;

// What comes back a hundredth of a window late is not worth keeping another one idle for.
const patience = 0.01;

/** When those in a stopped lane who came by `order` will want how much of a resource that they do not lack. */
const demandsOf = (
  { of, waiter, missing }: Stopped,
  resource: Resource,
  order: number,
): readonly Demand[] => {
  const { weight } = waiter.passage;
  const amount = share(of, resource, weight);
  const demands: Demand[] = [];
  for (const other of of.queue) {
    if (other.order > order || demands.length === mostLookedAt) break;
    const requests = demands.length + 1;
    const inMs = Math.max(
      ...missing.map((lacked) => {
        const each = share(of, lacked, weight);
        return lacked.readyInMs(requests * each, each) + lacked.limit.perMs * patience;
      }),
    );
    // Taken by somebody else it would be back by then.
    if (inMs >= resource.limit.perMs) break;
    demands.push({ inMs, amount });
  }
  return demands;
};

/**
 * How much of a resource has to be kept for those in stopped lanes who came by `order`: what they will want before
 * as much of it comes back by itself. Else whoever needs nothing but this resource would take all of it in a burst,
 * and they would find none when theirs is ready.
 */
export const claims = (
  stopped: readonly Stopped[],
  resource: Resource,
  order = Number.POSITIVE_INFINITY,
): number => {
  const demands = stopped
    .filter(({ of, missing }) => of.resources.includes(resource) && !missing.includes(resource))
    .flatMap((one) => demandsOf(one, resource, order))
    .toSorted((one, other) => one.inMs - other.inMs);
  let wanted = 0;
  let kept = 0;
  for (const { inMs, amount } of demands) {
    wanted += amount;
    kept = Math.max(kept, wanted - resource.backWithin(inMs, wanted));
  }
  return kept;
};
