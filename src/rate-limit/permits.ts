import type { Limit } from "../options/limits.ts";
import type { Priority } from "../options/priority.ts";
import type { Clock } from "../runtime/clock.ts";

/** What the requests of one kind hold of a budget: permits in use, and permits that cool after use. */
export class Holding {
  count = 0;
  /** What all kinds hold, kept up to date here. */
  readonly #ofBudget: Record<Priority, number>;
  readonly #priority: Priority;

  constructor(ofBudget: Record<Priority, number>, priority: Priority) {
    this.#ofBudget = ofBudget;
    this.#priority = priority;
  }

  /** A negative amount is given back. */
  add(amount: number): void {
    this.count += amount;
    this.#ofBudget[this.#priority] += amount;
  }
}

interface Entry {
  readonly until: number;
  readonly count: number;
  readonly holding: Holding | undefined;
  /** Permits of this entry and of all before it, ever. */
  total: number;
}

/**
 * Permits that were used and may not be used again yet, in the order in which they come back: a window after the
 * *answer*. The service had counted the request before it answered, so the next use of the same permit falls in no
 * window with this one, whichever way the service counts, and no clock is compared.
 */
export class PermitCooldown {
  #entries: Entry[] = [];
  #first = 0;
  #added = 0;
  #taken = 0;

  get count(): number {
    return this.#added - this.#taken;
  }

  /** When the next permit comes back; undefined when none is cooling. */
  get nextAt(): number | undefined {
    return this.#entries[this.#first]?.until;
  }

  /** When `count` are back; undefined when fewer are cooling. */
  backAt(count: number): number | undefined {
    if (count > this.count) return undefined;
    const wanted = this.#taken + count;
    let [low, high] = [this.#first, this.#entries.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.total ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return this.#entries[low]?.until;
  }

  add(count: number, until: number, holding?: Holding): void {
    let at = this.#entries.length;
    // Nearly always the last; only a batch larger than the budget is kept longer than those after it.
    while (at > this.#first && (this.#entries[at - 1]?.until ?? 0) > until) at -= 1;
    const before = at > this.#first ? (this.#entries[at - 1]?.total ?? 0) : this.#taken;
    const entry = { until, count, holding, total: before + count };
    this.#added += count;
    if (at === this.#entries.length) this.#entries.push(entry);
    else {
      this.#entries.splice(at, 0, entry);
      for (const later of this.#entries.slice(at + 1)) later.total += count;
    }
  }

  /** Takes out what has cooled by `now`, and tells how many permits that is. */
  take(now: number): number {
    let taken = 0;
    let entry = this.#entries[this.#first];
    while (entry !== undefined && entry.until <= now) {
      entry.holding?.add(-entry.count);
      taken += entry.count;
      this.#first += 1;
      entry = this.#entries[this.#first];
    }
    this.#taken += taken;
    if (this.#first > 1_000 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }
}

interface Stretch {
  readonly since: number;
  readonly leastMs: number;
  readonly totalMs: number;
  readonly count: number;
}

const never = Number.POSITIVE_INFINITY;
const empty = (since: number): Stretch => ({ since, leastMs: never, totalMs: 0, count: 0 });

const fewest = 20;
const [mostStretches, longestStretches] = [6, 20];

/**
 * How much of every round trip is certain to pass, as the latest ones tell. A permit's next use is counted a window
 * after its last one when the answer's way back and the next request's way there are part of that window. Both
 * together take at least the floor: the smallest round trip seen, less the average excess over it. Random latency has
 * no floor to speak of, constant latency is one. A busy moment slows every answer alike, so nothing is believed that
 * was not true for a whole stretch of time.
 */
export class LatencyFloor {
  readonly #stretchMs: number;
  readonly #bounds: { readonly slackMs: number; readonly mostMs: number };
  /** Whole stretches, oldest first. */
  #past: readonly Stretch[] = [];
  #current = empty(Number.NEGATIVE_INFINITY);
  #floorMs = 0;

  /** The floor stays `slackMs` below what six stretches tell, and is `mostMs` at most. */
  constructor(stretchMs: number, bounds: { readonly slackMs: number; readonly mostMs: number }) {
    this.#stretchMs = stretchMs;
    this.#bounds = bounds;
  }

  add(ms: number, now: number): void {
    const ageMs = now - this.#current.since;
    if (ageMs > this.#stretchMs * longestStretches) {
      // What a few answers told long ago says nothing of now.
      this.#past = [];
      this.#current = empty(now);
    } else if (ageMs >= this.#stretchMs && this.#current.count >= fewest) {
      this.#past = [...this.#past, this.#current].slice(-mostStretches);
      this.#current = empty(now);
    }
    const { since, leastMs, totalMs, count } = this.#current;
    this.#current = { since, leastMs: Math.min(leastMs, ms), totalMs: totalMs + ms, count: count + 1 };
    this.#floorMs = this.#told();
  }

  get floorMs(): number {
    return this.#floorMs;
  }

  #told(): number {
    if (this.#past.length === 0) return 0;
    let { leastMs, totalMs, count } = this.#current;
    for (const stretch of this.#past) {
      leastMs = Math.min(leastMs, stretch.leastMs);
      totalMs += stretch.totalMs;
      count += stretch.count;
    }
    const excessMs = totalMs / count - leastMs;
    return Math.max(0, Math.min(leastMs - excessMs - this.#bounds.slackMs, this.#bounds.mostMs));
  }
}

// However long a round trip seems to take for certain, most of the window is waited out.
const mostAllowance = 1 / 3;
// A machine that starts, or is busy, answers late for seconds, and from one moment to the next no more.
const stretchWindows = 10;
// What a busy machine adds to every round trip for a while is no floor: so little of a window is not worth a 429. A
// longer window needs no more: the stretches in which one answer has to be quick grow with it.
const allowanceSlack = 0.015;
const mostSlackMs = 15;

/** The round trips of a limit with this window. */
export const latencyFloorFor = (perMs: number): LatencyFloor =>
  new LatencyFloor(perMs * stretchWindows, {
    slackMs: Math.min(perMs * allowanceSlack, mostSlackMs),
    mostMs: perMs * mostAllowance,
  });

/** The least a level has been in this stretch of time and the one before it: so much of it nobody has needed. */
export class IdleMinimum {
  #since = Number.NEGATIVE_INFINITY;
  #least = 0;
  #leastBefore = 0;

  /** The level has fallen to this. */
  fell(to: number): void {
    this.#least = Math.min(this.#least, to);
  }

  /** The least of the last `ms` at least, and of twice as long at most where it is asked for often. */
  over(ms: number, { level, now }: { readonly level: number; readonly now: number }): number {
    const least = Math.min(this.#leastBefore, this.#least, level);
    if (now - this.#since >= ms) {
      this.#leastBefore = this.#least;
      this.#least = level;
      this.#since = now;
    }
    return least;
  }
}

// A service that counts whole milliseconds may see a window up to one shorter; and no two clocks run alike.
const marginMs = (perMs: number): number => 1 + perMs * 0.0001;
// A timer set for the moment at which a permit is back must find it back.
const roundingMs = 0.001;

/** The permits of one budget in this process: in hand, in use, or cooling until a window after the answer. */
export class Permits {
  readonly #limit: Limit;
  readonly #clock: Clock;
  #leased: number;
  #inHand: number;
  /** Permits that are given up as soon as they have cooled. */
  #owed = 0;
  /** Permits given up, which nobody else may have before the allowance for this process's latency is over. */
  readonly #leaving = new PermitCooldown();
  readonly #cooling = new PermitCooldown();
  /** By then every permit in hand has cooled in full. */
  #cooledAt = Number.NEGATIVE_INFINITY;
  readonly #latency: LatencyFloor;
  readonly #idleMinimum = new IdleMinimum();

  constructor(limit: Limit, clock: Clock, initial: number) {
    this.#limit = limit;
    this.#clock = clock;
    this.#leased = initial;
    this.#inHand = initial;
    this.#latency = latencyFloorFor(limit.perMs);
  }

  /** Permits leased now: in hand, in use or cooling. */
  get leased(): number {
    this.#leased -= this.#leaving.take(this.#clock.now());
    return this.#leased;
  }

  /** Permits that may be used, as of the last `thaw`. */
  get inHand(): number {
    return this.#inHand;
  }

  /** Permits that were called back and leave as they cool. */
  get owed(): number {
    return this.#owed + this.#leaving.count;
  }

  /** Permits in use, or cooling for this process itself. */
  get used(): number {
    // First: it pays what is owed, which counts no longer.
    this.thaw(this.#clock.now());
    return this.leased - this.#leaving.count - this.#inHand;
  }

  /** How much sooner than a window after the answer a permit comes back, by what is known of the way. */
  get allowanceMs(): number {
    return this.#latency.floorMs;
  }

  /** In how many milliseconds the next of those that leave are gone; undefined when none leaves. */
  get leavesInMs(): number | undefined {
    const now = this.#clock.now();
    this.#leased -= this.#leaving.take(now);
    const next = Math.min(this.#leaving.nextAt ?? never, (this.#owed > 0 && this.#cooling.nextAt) || never);
    return next === never ? undefined : Math.max(0, next - now) + roundingMs;
  }

  /** When the next permit comes back, which may be by now; undefined when none is cooling. */
  get nextAt(): number | undefined {
    const next = this.#cooling.nextAt;
    return next === undefined ? undefined : next - this.allowanceMs;
  }

  /**
   * In how long `amount` permits have come free at the earliest, were all of the limit's here: first those that nobody
   * uses, then those that cool, then those in use, and a window later all of them again.
   */
  readyInMs(amount: number): number {
    const { max, perMs } = this.#limit;
    if (max === never) return 0;
    const now = this.#clock.now();
    const free = max - this.used;
    const rounds = Math.max(0, Math.ceil(amount / max) - 1);
    const lacking = amount - rounds * max - free;
    if (lacking <= 0) return rounds * perMs;
    const backAt = this.#cooling.backAt(lacking + this.#owed);
    return rounds * perMs + (backAt === undefined ? perMs : Math.max(0, backAt - now)) - this.allowanceMs;
  }

  /** Of the permits in hand, as of the last `thaw`, those that were not needed for `ms`. */
  unneededFor(ms: number): number {
    return this.#idleMinimum.over(ms, { level: this.#inHand, now: this.#clock.now() });
  }

  take(amount: number): void {
    this.#inHand -= amount;
    this.#idleMinimum.fell(this.#inHand);
  }

  /** The request never left: its permits are free at once. */
  putBack(amount: number): void {
    this.#inHand += amount;
  }

  /**
   * The request was answered, or nobody knows (`roundTripMs` undefined): its permits come back when no window can hold
   * both uses.
   * A batch larger than the limit keeps all permits for as many windows as it fills.
   */
  cool(weight: number, roundTripMs: number | undefined, holding?: Holding): void {
    const { max, perMs } = this.#limit;
    if (max === never) return holding?.add(-weight);
    const now = this.#clock.now();
    if (roundTripMs !== undefined) this.#latency.add(roundTripMs, now);
    // Without an answer nothing is known of when it was counted: the allowance is added here, to be none.
    const extraMs = roundTripMs === undefined ? perMs * mostAllowance : 0;
    const windows = Math.max(1, weight / max);
    const until = now + perMs * windows + marginMs(perMs) + extraMs;
    this.#cooling.add(Math.min(weight, max), until, holding);
  }

  grant(count: number): void {
    const kept = Math.min(count, this.#owed);
    this.#owed -= kept;
    this.#leased += count - kept;
    this.#inHand += count - kept;
  }

  retire(count: number): void {
    this.#owed += count;
    this.thaw(this.#clock.now());
  }

  /** Takes in hand what has cooled by `now`. */
  thaw(now: number): void {
    const { allowanceMs } = this;
    const taken = this.#cooling.take(now + allowanceMs + roundingMs);
    if (taken > 0) this.#cooledAt = Math.max(this.#cooledAt, now + allowanceMs);
    this.#inHand += taken;
    if (this.#owed > 0) this.#payOwed(Math.min(this.#owed, this.#inHand), now);
  }

  #payOwed(count: number, now: number): void {
    this.#owed -= count;
    this.#inHand -= count;
    this.#idleMinimum.fell(this.#inHand);
    if (this.#cooledAt <= now) this.#leased -= count;
    else this.#leaving.add(count, this.#cooledAt);
  }
}
