/** Something that requests share and may have to wait for: a budget, or the slots of a client. */
export interface Resource {
  readonly name: string;
  /** Requests in any lane that wait and will spend this. */
  waiters: number;
  /** Whether `weight` could be taken now. */
  has(weight: number): boolean;
  take(weight: number): void;
  /** Told that somebody waits for `weight`: sees to it that the lanes are looked at again in time. */
  want(weight: number): void;
}

interface Waiter {
  readonly order: number;
  readonly weight: number;
  readonly go: () => void;
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

const take = (of: Lane, weight: number): void => {
  for (const resource of of.resources) resource.take(share(of, resource, weight));
};

const lacking = (of: Lane, weight: number): readonly Resource[] =>
  of.resources.filter((resource) => !resource.has(share(of, resource, weight)));

/**
 * Lets requests through, first come first served for each resource.
 *
 * A request takes all it spends at one moment, or nothing: none holds one budget while it waits for another. A
 * request that waits for one budget does not hold up those that do not spend it.
 */
export class Lanes {
  readonly #busy = new Set<Lane>();
  #order = 0;
  #isPumping = false;

  /** Resolves once the request may go; `undefined` at once when nothing is in its way. */
  enter(of: Lane, weight: number, signal: AbortSignal | undefined): Promise<void> | undefined {
    const isContended = of.resources.some((resource) => resource.waiters > 0);
    if (!isContended && of.resources.every((resource) => resource.has(share(of, resource, weight)))) {
      take(of, weight);
      return undefined;
    }
    return this.#wait(of, weight, signal);
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
    try {
      const blocked = new Set<Resource>();
      for (let next = this.#next(blocked); next !== undefined; next = this.#next(blocked)) {
        const { of, waiter } = next;
        const missing = lacking(of, waiter.weight);
        if (missing.length === 0) {
          this.#leave(of, waiter);
          take(of, waiter.weight);
          waiter.go();
        }
        for (const resource of missing) {
          blocked.add(resource);
          resource.want(share(of, resource, waiter.weight));
        }
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #wait(of: Lane, weight: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        this.#leave(of, waiter);
        reject(signal?.reason);
        // Whoever stood behind it may be able to go.
        this.pump();
      };
      const go = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const waiter: Waiter = { order: this.#order++, weight, go };
      of.queue.add(waiter);
      this.#busy.add(of);
      for (const resource of of.resources) resource.waiters += 1;
      signal?.addEventListener("abort", onAbort);
      this.pump();
    });
  }

  #leave(of: Lane, waiter: Waiter): void {
    if (!of.queue.delete(waiter)) return;
    if (of.queue.size === 0) this.#busy.delete(of);
    for (const resource of of.resources) resource.waiters -= 1;
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
