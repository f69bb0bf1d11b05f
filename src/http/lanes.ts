import type { Limit } from "../limits.ts";
import { whenAborted } from "../when-aborted.ts";

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

interface Waiter {
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

const share = (of: Lane, resource: Resource, weight: number): number =>
  resource === of.weighted ? weight : 1;

const admit = (of: Lane, passage: Passage): void => {
  for (const resource of of.resources) resource.take(share(of, resource, passage.weight), passage);
  passage.admitted();
};

const lacking = (
  of: Lane,
  weight: number,
  claimed: (resource: Resource) => number = () => 0,
): readonly Resource[] =>
  of.resources.filter((resource) => !resource.has(share(of, resource, weight) + claimed(resource)));

/** How many requests of `weight` a resource lets through soon: in its own window, and in no more than `ms`. */
const soonThrough = (lacked: Resource, weight: number, ms: number): number => {
  const { max, perMs } = lacked.limit;
  if (lacked.waitMs() > ms) return 0;
  return Math.ceil(Math.min(1, ms / perMs) * Math.max(1, max / weight));
};

/** How much of a resource is kept for those in a stopped lane who came before `order`. */
const claims = ({ of, waiter, missing }: Stopped, resource: Resource, order: number): number => {
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

/** A lane whose first request lacks something, and what that is. */
interface Stopped {
  readonly of: Lane;
  readonly waiter: Waiter;
  readonly missing: readonly Resource[];
}

/**
 * Lets requests through, first come first served for each resource.
 *
 * A request takes all it spends at one moment, or nothing: none holds one budget while it waits for another. A
 * request that waits for one budget does not hold up those that do not spend it, but for the little that is kept for
 * those who came first and can go soon: else whoever needs nothing but requests would take all of them.
 */
export class Lanes {
  readonly #busy = new Set<Lane>();
  #order = 0;
  #isPumping = false;

  /**
   * Resolves once the request may go; `undefined` at once when nothing is in its way.
   *
   * @throws whatever the passage's `refusal` says.
   */
  enter(of: Lane, passage: Passage): Promise<void> | undefined {
    const refusal = passage.refusal();
    if (refusal !== undefined) throw refusal;
    const isContended = of.resources.some((resource) => resource.waiters > 0);
    if (!isContended && of.resources.every((resource) => resource.has(share(of, resource, passage.weight)))) {
      admit(of, passage);
      return undefined;
    }
    return this.#wait(of, passage);
  }

  /** Refuses whoever waits and will spend the resource, each with an error of its own. */
  evict(resource: Resource, reason: () => Error): void {
    for (const of of [...this.#busy]) {
      if (!of.resources.includes(resource)) continue;
      for (const waiter of [...of.queue]) {
        this.#leave(of, waiter);
        waiter.refuse(reason());
      }
    }
    // Whoever stood behind them may be able to go.
    this.pump();
  }

  /** What keeps the request from going now; for telling the user. */
  blockers(of: Lane, weight: number): readonly Resource[] {
    return lacking(of, weight);
  }

  /** Lets through whoever can go. Called whenever a resource may have become free. */
  pump(): void {
    // A resource that changes while it is taken from must not start a second round inside the first.
    if (this.#isPumping) return;
    this.#isPumping = true;
    const stopped: Stopped[] = [];
    try {
      const blocked = new Set<Resource>();
      for (let next = this.#next(blocked); next !== undefined; next = this.#next(blocked)) {
        const { of, waiter } = next;
        const { weight } = waiter.passage;
        const claimed = (resource: Resource): number =>
          stopped.reduce((sum, other) => sum + claims(other, resource, waiter.order), 0);
        const missing = this.#serve(of, waiter, claimed);
        for (const resource of missing) {
          blocked.add(resource);
          resource.want(share(of, resource, weight) + claimed(resource));
        }
        if (missing.length > 0) stopped.push({ of, waiter, missing });
      }
    } finally {
      this.#isPumping = false;
    }
    for (const { of, waiter } of stopped) if (of.queue.has(waiter)) waiter.passage.stopped();
  }

  /** Lets one go or refuses it; answers what it has to wait for. */
  #serve(of: Lane, waiter: Waiter, claimed: (resource: Resource) => number): readonly Resource[] {
    const { passage } = waiter;
    const refusal = passage.refusal();
    if (refusal !== undefined) {
      this.#leave(of, waiter);
      waiter.refuse(refusal);
      return [];
    }
    const missing = lacking(of, passage.weight, claimed);
    if (missing.length === 0) {
      this.#leave(of, waiter);
      admit(of, passage);
      waiter.go();
    }
    return missing;
  }

  /** `undefined` when the look at the lanes that it begins with lets the request go at once. */
  #wait(of: Lane, passage: Passage): Promise<void> | undefined {
    const { signal } = passage;
    let hasGone = false;
    const waiting = new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const release = whenAborted(signal, () => {
        release();
        this.#leave(of, waiter);
        reject(signal?.reason);
        // Whoever stood behind it may be able to go.
        this.pump();
      });
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          release();
          settle(value);
        };
      const waiter: Waiter = {
        order: this.#order++,
        passage,
        go: settled<void>(() => {
          hasGone = true;
          resolve();
        }),
        refuse: settled<unknown>(reject),
      };
      of.queue.add(waiter);
      this.#busy.add(of);
      for (const resource of of.resources) resource.waiters += 1;
      this.pump();
    });
    return hasGone ? undefined : waiting;
  }

  #leave(of: Lane, waiter: Waiter): void {
    if (!of.queue.delete(waiter)) return;
    if (of.queue.size === 0) this.#busy.delete(of);
    for (const resource of of.resources) {
      resource.waiters -= 1;
      if (resource.waiters === 0) resource.rest();
    }
  }

  #next(blocked: ReadonlySet<Resource>): { readonly of: Lane; readonly waiter: Waiter } | undefined {
    let first: { readonly of: Lane; readonly waiter: Waiter } | undefined;
    for (const of of this.#busy) {
      if (of.resources.some((resource) => blocked.has(resource))) continue;
      const [waiter] = of.queue;
      if (waiter !== undefined && (first === undefined || waiter.order < first.waiter.order))
        first = { of, waiter };
    }
    return first;
  }
}
