import { whenAborted } from "../runtime/cancellation.ts";
import { depart, type Head, type Lane, type Passage, type Resource, share, type Waiter } from "./lane.ts";
import { Claims, type Stopped } from "./shares.ts";

const admit = (of: Lane, passage: Passage): void => {
  for (const resource of of.resources) resource.take(share(of, resource, passage.weight), passage);
  depart(of, passage.weight);
  passage.admitted();
};

const lacking = (
  of: Lane,
  weight: number,
  claimed: (resource: Resource) => number = () => 0,
): readonly Resource[] =>
  of.resources.filter((resource) => !resource.has(share(of, resource, weight) + claimed(resource)));

const first = (of: Lane): readonly Head[] => {
  for (const waiter of of.queue) return [{ of, waiter }];
  return [];
};

/**
 * Lets requests through, first come first served for each resource.
 *
 * A request takes all it spends at one moment, or nothing: none holds one budget while it waits for another. A
 * request that waits for one budget does not hold up those that do not spend it, but for what `Claims` keeps: else
 * whoever needs nothing but requests would take all of them.
 */
export class Lanes {
  readonly #busy = new Set<Lane>();
  readonly #wake = (): void => this.pump();
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
    if (this.#isPumping || this.#busy.size === 0) return;
    this.#isPumping = true;
    let waiting: readonly Head[] | undefined;
    try {
      while (waiting === undefined) waiting = this.#serve();
    } finally {
      this.#isPumping = false;
    }
    for (const { of, waiter } of waiting) if (of.queue.has(waiter)) waiter.passage.stopped();
  }

  /** Lets one go or refuses it, and answers nothing; when there is none, who is held up. */
  #serve(): readonly Head[] | undefined {
    const heads = this.#heads();
    const blocked = new Set<Resource>();
    const stopped: Stopped[] = [];
    const able: Head[] = [];
    for (const head of heads) {
      const { of, waiter } = head;
      if (of.resources.some((resource) => blocked.has(resource))) continue;
      const refusal = waiter.passage.refusal();
      if (refusal !== undefined) {
        this.#leave(of, waiter);
        waiter.refuse(refusal);
        return undefined;
      }
      const missing = lacking(of, waiter.passage.weight);
      if (missing.length === 0) able.push(head);
      else stopped.push({ ...head, missing });
      for (const resource of missing) blocked.add(resource);
    }
    return this.#serveFirst(able, stopped, heads);
  }

  /** The same, of those who lack nothing but what is kept for the stopped ones. */
  #serveFirst(
    able: readonly Head[],
    stopped: readonly Stopped[],
    all: readonly Head[],
  ): readonly Head[] | undefined {
    const claims = new Claims(stopped, able, all);
    const short: Stopped[] = [];
    for (const head of able) {
      const { of, waiter } = head;
      const missing = lacking(of, waiter.passage.weight, (resource) => claims.from(head, resource));
      if (missing.length === 0) {
        this.#leave(of, waiter);
        admit(of, waiter.passage);
        waiter.go();
        return undefined;
      }
      short.push({ ...head, missing });
    }
    const waiting = [...stopped, ...short];
    for (const one of waiting)
      for (const resource of one.missing)
        resource.want(
          share(one.of, resource, one.waiter.passage.weight) + claims.from(one, resource),
          this.#wake,
        );
    for (const resource of new Set(all.flatMap(({ of }) => of.resources))) resource.keep(claims.of(resource));
    return waiting;
  }

  /** Who stands first in each lane, in the order in which they came. */
  #heads(): readonly Head[] {
    return [...this.#busy]
      .flatMap((of) => first(of))
      .toSorted((one, other) => one.waiter.order - other.waiter.order);
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
      // Behind others of its lane it changes nothing for those who stand first.
      if (of.queue.size === 1) this.pump();
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
}
