import type { Limit } from "../options/limits.ts";
import type { Priority } from "../options/priority.ts";
import type { Clock } from "../runtime/clock.ts";

/** How many permits of a budget the requests of one kind hold: in use, and cooling down. */
export class Holding {
  count = 0;
  /** The total of all kinds, updated here. */
  readonly #ofBudget: Record<Priority, number>;
  readonly #priority: Priority;

  constructor(ofBudget: Record<Priority, number>, priority: Priority) {
    this.#ofBudget = ofBudget;
    this.#priority = priority;
  }

  /** A negative amount is returned. */
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
 * Permits that were used and cool down, in the order in which they come back: a window after the *response*. The
 * service counted the request before it responded, so the next use of the same permit is never in one window with this
 * one, however the service counts, and no clocks are compared.
 */
export class PermitCooldown {
  #entries: Entry[] = [];
  #first = 0;
  #added = 0;
  #taken = 0;

  get count(): number {
    return this.#added - this.#taken;
  }

  /** When the next permit comes back; undefined if none is cooling down. */
  get nextAt(): number | undefined {
    return this.#entries[this.#first]?.until;
  }

  /** When `count` are back; undefined if fewer are cooling down. */
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
    // Nearly always the last; only a batch larger than the budget cools down longer than later entries.
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

  /** Removes entries that have cooled down by `now`, and returns their number of permits. */
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
    const { length } = this.#entries;
    if ((this.#first > 1_000 && this.#first * 2 > length) || (this.#first > 0 && this.#first === length)) {
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

const never = Infinity;
const empty = (since: number): Stretch => ({ since, leastMs: never, totalMs: 0, count: 0 });

const fewest = 20;
const [mostStretches, longestStretches] = [6, 20];

/**
 * The part of a round trip that is certain to pass, according to the latest ones. A permit's next use is counted a
 * window after its last one if the response's way back and the next request's way there are part of that window. Both
 * together take at least the floor: the smallest round trip seen, less the average excess over it. Random latency has
 * almost no floor; constant latency is one. A busy moment slows every response, so a value counts only if it held for a
 * whole period.
 */
export class LatencyFloor {
  readonly #stretchMs: number;
  readonly #bounds: { readonly slackMs: number; readonly mostMs: number };
  /** Complete periods, oldest first. */
  #past: readonly Stretch[] = [];
  #current = empty(Number.NEGATIVE_INFINITY);
  #floorMs = 0;

  /** The floor stays `slackMs` below the value of six periods, and is at most `mostMs`. */
  constructor(stretchMs: number, bounds: { readonly slackMs: number; readonly mostMs: number }) {
    this.#stretchMs = stretchMs;
    this.#bounds = bounds;
  }

  add(ms: number, now: number): void {
    const ageMs = now - this.#current.since;
    if (ageMs > this.#stretchMs * longestStretches) {
      // What a few responses showed long ago is outdated.
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

// However long a round trip seems to take, most of the window is waited out.
export const mostAllowance = 1 / 3;
// A machine that starts, or is busy, responds late for seconds, and then suddenly no more.
const stretchWindows = 10;
// What a busy machine adds to every round trip for a while is not a floor: so small a part of a window is not worth a
// 429. Longer windows need no more, because the periods in which one response has to be fast grow with them.
const allowanceSlack = 0.015;
const mostSlackMs = 15;

export const latencyFloorFor = (windowMs: number): LatencyFloor =>
  new LatencyFloor(windowMs * stretchWindows, {
    slackMs: Math.min(windowMs * allowanceSlack, mostSlackMs),
    mostMs: windowMs * mostAllowance,
  });

// A service that counts whole milliseconds may see a window up to one shorter; and no two clocks run equally fast.
export const marginMs = (windowMs: number): number => 1 + windowMs * 0.0001;
// A timer for the moment at which a permit is back must find it back.
const roundingMs = 0.001;

/** The permits of one budget in this process: idle, in use, or cooling down until a window after the response. */
export class Permits {
  readonly #limit: Limit;
  readonly #clock: Clock;
  #inHand: number;
  readonly #cooling = new PermitCooldown();
  readonly #latency: LatencyFloor;

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#inHand = limit.max;
    this.#latency = latencyFloorFor(limit.windowMs);
  }

  /** Permits that may be used, as of the last `thaw`. */
  get inHand(): number {
    return this.#inHand;
  }

  /** Permits in use or cooling down. */
  get used(): number {
    this.thaw(this.#clock.now());
    return this.#limit.max === never ? 0 : this.#limit.max - this.#inHand;
  }

  /** How much sooner than a window after the response a permit comes back, according to the known latency. */
  get #allowanceMs(): number {
    return this.#latency.floorMs;
  }

  /** When the next permit comes back, possibly now; undefined if none is cooling down. */
  get nextAt(): number | undefined {
    const next = this.#cooling.nextAt;
    return next === undefined ? undefined : next - this.#allowanceMs;
  }

  /**
   * When `amount` permits are free at the earliest: first idle ones, then cooling ones, then those in use, and a window
   * later all of them again.
   */
  readyInMs(amount: number): number {
    const { max, windowMs } = this.#limit;
    if (max === never) return 0;
    const now = this.#clock.now();
    const free = max - this.used;
    const rounds = Math.max(0, Math.ceil(amount / max) - 1);
    const lacking = amount - rounds * max - free;
    if (lacking <= 0) return rounds * windowMs;
    const backAt = this.#cooling.backAt(lacking);
    const backInMs = backAt === undefined ? windowMs : Math.max(0, backAt - now);
    return rounds * windowMs + backInMs - this.#allowanceMs;
  }

  take(amount: number): void {
    this.#inHand -= amount;
  }

  /** The request was never sent: its permits are free at once. */
  putBack(amount: number): void {
    this.#inHand += amount;
  }

  /**
   * The request was answered, or that is unknown (`roundTripMs` undefined): its permits come back when no window can
   * contain both uses. A batch larger than the limit keeps all permits for as many windows as it fills.
   */
  cool(weight: number, roundTripMs: number | undefined, holding?: Holding): void {
    const { max, windowMs } = this.#limit;
    if (max === never) return holding?.add(-weight);
    const now = this.#clock.now();
    if (roundTripMs !== undefined) this.#latency.add(roundTripMs, now);
    // Without a response, it is unknown when it was counted: the allowance is added here, so that none remains.
    const extraMs = roundTripMs === undefined ? windowMs * mostAllowance : 0;
    const windows = Math.max(1, weight / max);
    const until = now + windowMs * windows + marginMs(windowMs) + extraMs;
    this.#cooling.add(Math.min(weight, max), until, holding);
  }

  /** Makes permits idle that have cooled down by `now`. */
  thaw(now: number): void {
    this.#inHand += this.#cooling.take(now + this.#allowanceMs + roundingMs);
  }
}
