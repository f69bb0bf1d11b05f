import { type Lane, type Resource, share, type Waiter } from "./lane.ts";

/** A lane whose first request lacks something, and what that is. */
export interface Stopped {
  readonly of: Lane;
  readonly waiter: Waiter;
  readonly missing: readonly Resource[];
}

/** How many requests of `weight` a resource lets through soon: in its own window, and in no more than `ms`. */
const soonThrough = (lacked: Resource, weight: number, ms: number): number => {
  const { max, perMs } = lacked.limit;
  if (lacked.waitMs() > ms) return 0;
  return Math.ceil(Math.min(1, ms / perMs) * Math.max(1, max / weight));
};

/** How much of a resource is kept for those in a stopped lane who came before `order`. */
export const claims = ({ of, waiter, missing }: Stopped, resource: Resource, order: number): number => {
  const { weight } = waiter.passage;
  // Never asked about what is missing: a lane that spends it is passed over.
  if (!of.resources.includes(resource)) return 0;
  // Taken by somebody else it would be away for so long.
  const { perMs } = resource.limit;
  const most = Math.min(...missing.map((lacked) => soonThrough(lacked, share(of, lacked, weight), perMs)));
  let earlier = 0;
  for (const other of of.queue) {
    if (earlier >= most || other.order > order) break;
    earlier += 1;
  }
  return earlier * share(of, resource, weight);
};
