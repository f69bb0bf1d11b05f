import { type Head, heldBy, type Resource, share } from "./lane.ts";

/** A lane whose first request lacks something, and what that is. */
export interface Stopped extends Head {
  readonly missing: readonly Resource[];
}

// Permits that processes share are called back, and what depends on them is guesswork beyond so many windows.
const sharedWindows = 2;

// What others have used may come back for a lane too, but they want it again, and so do the other lanes that wait.
const shareOfOthers = 1 / 2;

// Of that only what comes late in the time until it is needed: what comes soon is kept when it comes, or nobody would.
const late = 3 / 4;

// Of a longer line the end is kept for once it has come nearer.
const mostLookedAt = 100;

const amountOf = ({ of, waiter }: Head, resource: Resource): number =>
  share(of, resource, waiter.passage.weight);

/** How many requests of `each` a limit lets through in `ms`, with so much of it here. */
const through = ({ limit }: Resource, ms: number, { each, here }: { each: number; here: number }): number =>
  Math.ceil((ms / limit.perMs) * (here / each));

/** How much of a resource a lane can use in the resource's window, by all that its requests spend. */
const paceOf = (head: Head, resource: Resource, here: (of: Resource, each: number) => number): number => {
  const requests = head.of.resources.map((one) => {
    const each = amountOf(head, one);
    return through(one, resource.limit.perMs, { each, here: here(one, each) });
  });
  return Math.min(...requests) * amountOf(head, resource);
};

const ofLimit = ({ limit }: Resource): number => limit.max;

// With too few permits for one request nobody can say how many there will be.
const ofLeased = ({ leased, limit }: Resource, each: number): number => (leased < each ? limit.max : leased);

/** Whether something else keeps a lane from using the whole limit: one that could is held up by this in the end. */
const isNarrow = (head: Head, resource: Resource): boolean =>
  paceOf(head, resource, ofLimit) < resource.limit.max;

/** What a lane may have of a resource when it is shared out evenly, and nobody gets more than it can use. */
const fairShare = (head: Head, resource: Resource, all: readonly Head[]): number => {
  const own = paceOf(head, resource, ofLeased);
  const paces = all.map((one) => paceOf(one, resource, ofLeased)).toSorted((one, other) => one - other);
  let left = resource.leased;
  for (const [at, pace] of paces.entries()) {
    const equal = Math.floor(left / (paces.length - at));
    if (own <= pace || equal < pace) return Math.min(own, equal);
    left -= pace;
  }
  // For the compiler: its own pace is among them.
  return left;
};

/** Whether the first request of a lane takes it no further than an equal share of a resource. */
const isWithinShare = (head: Head, resource: Resource, all: readonly Head[]): boolean => {
  const most = Math.min(paceOf(head, resource, ofLeased), Math.floor(resource.leased / all.length));
  return heldBy(head.of, resource) + amountOf(head, resource) <= most;
};

/** Of these the ones that come back in windows: slots are in use for nobody knows how long. */
const inWindows = (resources: readonly Resource[]): readonly Resource[] =>
  resources.filter(({ limit }) => limit.perMs > 0);

const looksAheadMs = ({ missing }: Stopped, resource: Resource): number =>
  Math.min(
    // Taken by somebody else it would be back by then.
    resource.limit.perMs,
    ...missing
      .filter(({ leased, limit }) => leased < limit.max)
      .map(({ limit }) => limit.perMs * sharedWindows),
  );

/** What the next requests of one stopped lane will want of one resource, worked out as far as somebody asks. */
class Claim {
  readonly #one: Stopped;
  readonly #resource: Resource;
  readonly #amount: number;
  readonly #held: number;
  /** Up to its fair share. */
  readonly #room: number;
  /** By the number of requests: what they want before as much comes back, above all what their kind has used. */
  readonly #wanted = [0];
  #isEnded = false;

  constructor(one: Stopped, resource: Resource, all: readonly Head[]) {
    this.#one = one;
    this.#resource = resource;
    this.#amount = amountOf(one, resource);
    this.#held = heldBy(one.of, resource);
    this.#room = isNarrow(one, resource) ? Math.max(0, fairShare(one, resource, all) - this.#held) : 0;
  }

  /** For those who wait and as many again as went in the last window: they come back. */
  get ofShare(): number {
    const requests = this.#one.of.queue.size + this.#held / this.#amount;
    return this.#room === 0 ? 0 : Math.min(this.#room, this.#wantedBy(requests));
  }

  /** For those in the lane who came before `order`, as many as a window of what they lack lets through. */
  ofEarlier(order: number): number {
    const { of, missing } = this.#one;
    const most = Math.min(
      mostLookedAt,
      ...missing.map((lacked) => {
        const { max, perMs } = lacked.limit;
        const ms = Math.min(perMs, this.#resource.limit.perMs);
        return through(lacked, ms, { each: amountOf(this.#one, lacked), here: max });
      }),
    );
    let requests = 0;
    for (const waiter of of.queue) {
      if (requests >= most || waiter.order > order) break;
      requests += 1;
    }
    return this.#wantedBy(requests);
  }

  #wantedBy(requests: number): number {
    const most = Math.floor(Math.min(requests, mostLookedAt));
    while (!this.#isEnded && this.#wanted.length <= most) this.#lookFurther();
    return this.#wanted[Math.min(most, this.#wanted.length - 1)] ?? 0;
  }

  #lookFurther(): void {
    const { of, missing } = this.#one;
    const nth = this.#wanted.length;
    const inMs = Math.max(
      ...missing.map((lacked) => {
        const each = amountOf(this.#one, lacked);
        return lacked.readyInMs(nth * each, each);
      }),
    );
    this.#isEnded = inMs >= looksAheadMs(this.#one, this.#resource);
    if (this.#isEnded) return;
    const own = this.#resource.backWithin(inMs, of.kind);
    const others = this.#ofOthersWithin(inMs) - this.#ofOthersWithin(inMs * late);
    const wanted = Math.ceil(nth * this.#amount - own - others * shareOfOthers);
    this.#wanted.push(Math.max(wanted, this.#wanted[nth - 1] ?? 0));
  }

  #ofOthersWithin(ms: number): number {
    return this.#resource.backWithin(ms) - this.#resource.backWithin(ms, this.#one.of.kind);
  }
}

/**
 * How much of each resource is kept for the stopped lanes, at one look at them. Whoever needs nothing but one resource
 * would take all of it in a burst, and leave them none when what they lack is there.
 */
export class Claims {
  readonly #stopped: readonly Stopped[];
  readonly #able: readonly Head[];
  readonly #heads: readonly Head[];
  readonly #on = new Map<Resource, { readonly all: readonly Head[]; readonly claims: readonly Claim[] }>();

  /** `heads` are the first of all lanes: the `stopped` ones, the `able` ones, and those that yield to a stopped one. */
  constructor(stopped: readonly Stopped[], able: readonly Head[], heads: readonly Head[]) {
    this.#stopped = stopped;
    this.#able = able;
    this.#heads = heads;
  }

  /** What is kept from anybody new. */
  of(resource: Resource): number {
    return this.#of(resource).claims.reduce((sum, claim) => sum + claim.ofShare, 0);
  }

  /**
   * What is kept from the first of a lane: of an equal share it yields to none but those who came before it, and not
   * even to them when it takes back what requests of its kind have used.
   */
  from(head: Head, resource: Resource): number {
    const { all, claims } = this.#of(resource);
    const isFree = !isNarrow(head, resource);
    const against = isFree ? [...claims, ...this.#ofAble(resource)] : claims;
    if (against.length === 0) return 0;
    const isWithin = isWithinShare(head, resource, all);
    if (isWithin && !isFree && heldBy(head.of, resource) > 0) return 0;
    return against
      .map((claim) => {
        const earlier = claim.ofEarlier(head.waiter.order);
        return isWithin ? earlier : Math.max(earlier, claim.ofShare);
      })
      .reduce((sum, one) => sum + one, 0);
  }

  /**
   * Of lanes that are not stopped at this moment, since their first request can go, and will be again by its going.
   * Held only against those that could use all of it: two narrow lanes would keep it from each other.
   */
  #ofAble(resource: Resource): readonly Claim[] {
    return this.#able
      .filter((head) => head.of.resources.includes(resource) && isNarrow(head, resource))
      .map((head) => {
        const missing = inWindows(head.of.resources).filter((one) => one !== resource);
        return new Claim({ ...head, missing }, resource, this.#of(resource).all);
      });
  }

  #of(resource: Resource): { readonly all: readonly Head[]; readonly claims: readonly Claim[] } {
    const known = this.#on.get(resource);
    if (known !== undefined) return known;
    const all = new Map(
      this.#heads
        .filter(({ of }) => of.resources.includes(resource))
        .map((head) => [head.of.kind, head] as const),
    );
    const heads = [...all.values()];
    const claims = this.#stopped
      .filter(({ of, missing }) => of.resources.includes(resource) && !missing.includes(resource))
      .map((one) => new Claim(one, resource, heads));
    const found = { all: heads, claims };
    this.#on.set(resource, found);
    return found;
  }
}
