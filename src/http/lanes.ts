import { whenAborted } from "../when-aborted.ts";
import { claims, type Stopped } from "./claims.ts";
import { type Lane, type Passage, type Resource, share, type Waiter } from "./lane.ts";

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
