import type { Limit } from "../options/limits.ts";
import type { DayCount } from "../options/shared-limits.ts";
import { Link } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";

interface Stretch {
  readonly since: number;
  leastMs: number;
  totalMs: number;
  count: number;
}

const never = Infinity;

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
  /** Periods, oldest first; the last one is not complete. */
  #stretches: readonly Stretch[] = [];
  floorMs = 0;

  /** The floor stays `slackMs` below the value of six periods, and is at most `mostMs`. */
  constructor(stretchMs: number, bounds: { readonly slackMs: number; readonly mostMs: number }) {
    this.#stretchMs = stretchMs;
    this.#bounds = bounds;
  }

  add(ms: number, now: number): void {
    let stretch = this.#stretches.at(-1);
    // What a few responses showed long ago is outdated.
    const isOld = stretch === undefined || now - stretch.since > this.#stretchMs * longestStretches;
    const isComplete =
      stretch !== undefined && now - stretch.since >= this.#stretchMs && stretch.count >= fewest;
    if (stretch === undefined || isOld || isComplete) {
      stretch = { since: now, leastMs: never, totalMs: 0, count: 0 };
      if (isOld) this.floorMs = 0;
      this.#stretches = isOld ? [stretch] : [...this.#stretches.slice(-mostStretches), stretch];
    }
    stretch.leastMs = Math.min(stretch.leastMs, ms);
    stretch.totalMs += ms;
    stretch.count += 1;
    // One stretch alone says nothing.
    if (this.#stretches.length < 2) return;
    let [leastMs, totalMs, count] = [never, 0, 0];
    for (const stretch of this.#stretches) {
      leastMs = Math.min(leastMs, stretch.leastMs);
      totalMs += stretch.totalMs;
      count += stretch.count;
    }
    const excessMs = totalMs / count - leastMs;
    this.floorMs = Math.max(0, Math.min(leastMs - excessMs - this.#bounds.slackMs, this.#bounds.mostMs));
  }
}

// However long a round trip seems to take, most of the window is waited out.
const mostAllowance = 1 / 3;

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

/** How long the permits of a request cool down. */
export const coolMs = ({ max, windowMs }: Limit, weight: number, wasAnswered: boolean): number => {
  // Without a response, it is unknown when it was counted: the allowance is added here, so that none remains.
  const extraMs = wasAnswered ? 0 : windowMs * mostAllowance;
  // A service that counts whole milliseconds may see a window up to one shorter; and no two clocks run equally fast.
  const marginMs = 1 + windowMs * 0.0001;
  return windowMs * Math.max(1, weight / max) + marginMs + extraMs;
};

// A timer for the moment at which a permit is back must find it back.
const roundingMs = 0.001;

/** Permits that come back together. */
interface Cooling<Holder> {
  readonly until: number;
  readonly count: number;
  readonly holder: Holder;
}

/**
 * The permits of one budget in this process: idle, in use, or cooling down until a window after the *response*. The
 * service counted the request before it responded, so the next use of the same permit is never in one window with this
 * one, however the service counts, and no clocks are compared.
 */
export class Permits<Holder> {
  readonly #limit: Limit;
  readonly #clock: Clock;
  #inHand: number;
  readonly #taken = new Map<Holder, number>();
  /** A ring in the order in which they come back: in an array, moving 40,000 entries up took 90 µs a request. */
  readonly #cooling = new Link<Cooling<Holder> | undefined>(undefined);
  readonly #latency: LatencyFloor;

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#inHand = limit.max;
    this.#latency = latencyFloorFor(limit.windowMs);
  }

  /** Permits that may be used now. */
  get inHand(): number {
    this.#thaw();
    return this.#inHand;
  }

  /** The holders of permits in use or cooling down, with the number of each. */
  get taken(): ReadonlyMap<Holder, number> {
    this.#thaw();
    return this.#taken;
  }

  /**
   * When `amount` permits are free at the earliest: first idle ones, then cooling ones, then those in use, and a window
   * later all of them again.
   */
  readyInMs(amount: number): number {
    const { max, windowMs } = this.#limit;
    if (amount <= this.inHand) return 0;
    const rounds = Math.ceil(amount / max) - 1;
    const lacking = amount - rounds * max - this.#inHand;
    if (lacking <= 0) return rounds * windowMs;
    const backAt = this.backAt(lacking);
    const inUseMs = windowMs - this.#latency.floorMs;
    return rounds * windowMs + (backAt === undefined ? inUseMs : backAt - this.#clock.now());
  }

  /** A negative amount gives permits back at once, because the request was never sent. */
  take(amount: number, holder: Holder): void {
    this.#inHand -= amount;
    const count = (this.#taken.get(holder) ?? 0) + amount;
    if (count > 0) this.#taken.set(holder, count);
    else this.#taken.delete(holder);
  }

  /**
   * The request was answered, or that is unknown (`roundTripMs` undefined): its permits come back when no window can
   * contain both uses. A batch larger than the limit keeps all permits for as many windows as it fills.
   */
  cool(weight: number, roundTripMs: number | undefined, holder: Holder): void {
    const { max } = this.#limit;
    if (max === never) return this.take(-weight, holder);
    const now = this.#clock.now();
    if (roundTripMs !== undefined) this.#latency.add(roundTripMs, now);
    const until = now + coolMs(this.#limit, weight, roundTripMs !== undefined);
    let next = this.#cooling;
    // Only a batch larger than the budget cools down longer than later entries.
    while ((next.previous.value?.until ?? 0) > until) next = next.previous;
    new Link<Cooling<Holder> | undefined>({ until, count: Math.min(weight, max), holder }, next);
  }

  /** When `count` permits are back, possibly now; undefined if fewer are cooling down. */
  backAt(count: number): number | undefined {
    let left = count;
    for (let { next } = this.#cooling; next.value !== undefined; next = next.next) {
      left -= next.value.count;
      if (left <= 0) return next.value.until - this.#latency.floorMs;
    }
    return undefined;
  }

  #thaw(): void {
    const now = this.#clock.now() + this.#latency.floorMs + roundingMs;
    for (let { next } = this.#cooling; next.value !== undefined; next = this.#cooling.next) {
      if (next.value.until > now) return;
      next.remove();
      this.take(-next.value.count, next.value.holder);
    }
  }
}

// A day's use in slots of five minutes, each for a day after its end. The document does not say when a day starts, so a
// limit applies to any 24 hours; this satisfies every reading of it.

export const dayMs = 86_400_000;
// A day is 288 slots, and one more that has begun.
export const slotMs = 300_000;

/** The numbers of the slots that were used, oldest first, each followed by what was counted in it. */
export type DaySlots = readonly number[];

/** What is counted in all slots. */
export const sumOfSlots = (slots: DaySlots): number => {
  let sum = 0;
  for (let at = 1; at < slots.length; at += 2) sum += slots[at] ?? 0;
  return sum;
};

/** The slots without those that have expired. */
export const currentSlots = (slots: DaySlots, now: number): DaySlots => {
  const oldest = Math.floor((now - dayMs) / slotMs);
  let gone = 0;
  while ((slots[gone] ?? oldest) < oldest) gone += 2;
  return gone > 0 ? slots.slice(gone) : slots;
};

/**
 * The slots with `weight` more. A negative weight returns what was not used: that was counted last. What it returns beyond
 * that was forgotten a day ago.
 */
export const chargedSlots = (slots: DaySlots, now: number, weight: number): DaySlots => {
  const slot = Math.floor(now / slotMs);
  const isNew = weight > 0 && (slots.at(-2) ?? Number.NEGATIVE_INFINITY) < slot;
  // Neither leaves room to grow, which thousands of keys would keep.
  const charged = isNew ? slots.concat(slot, 0) : slots.slice();
  for (let left = weight; left !== 0 && charged.length > 0; ) {
    const count = charged.pop() ?? 0;
    const change = Math.max(left, -count);
    if (count + change > 0) charged.push(count + change);
    else charged.pop();
    left -= change;
  }
  return charged;
};

/** In how many milliseconds the oldest slots that hold `weight` together have expired; 0 if they hold less. */
export const slotsFreeInMs = (slots: DaySlots, now: number, weight: number): number => {
  let left = weight;
  for (let at = 0; left > 0 && at < slots.length; at += 2) {
    left -= slots[at + 1] ?? 0;
    if (left <= 0) return ((slots[at] ?? 0) + 1) * slotMs + dayMs - now;
  }
  return 0;
};

// No two clocks run equally fast: in a day, a wall clock that is corrected step by step gains up to 43 s.
const leastSleepMs = 60_000;

/**
 * Counts a day's use in this process.
 *
 * The client's clock stands still while the machine sleeps. What the wall clock goes on beyond it counts as time, too; a
 * wall clock that is set back takes only that time back.
 */
export class DailyLimit implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  /** How far the wall clock was ahead of the client's clock at the start. */
  readonly #startGapMs: number;
  #slots: DaySlots = [];
  #used = 0;

  constructor(name: string, max: number, clock: Clock) {
    this.name = name;
    this.max = max;
    this.#clock = clock;
    this.#startGapMs = clock.wallTime() - clock.now();
  }

  get used(): number {
    const slots = currentSlots(this.#slots, this.#now());
    if (slots !== this.#slots) this.#used = sumOfSlots(slots);
    this.#slots = slots;
    return this.#used;
  }

  has(weight: number): boolean {
    return this.#used + weight <= this.max || this.used + weight <= this.max;
  }

  /** A negative weight returns what was not used. */
  add(weight: number): void {
    if (this.max === never) return;
    this.#slots = chargedSlots(this.#slots, this.#now(), weight);
    this.#used = weight > 0 ? this.#used + weight : sumOfSlots(this.#slots);
  }

  /** How long until `weight` more fits. */
  resetsInMs(weight: number): number {
    return slotsFreeInMs(this.#slots, this.#now(), weight - (this.max - this.used));
  }

  #now(): number {
    const now = this.#clock.now();
    const sleptMs = this.#clock.wallTime() - now - this.#startGapMs;
    return sleptMs > leastSleepMs ? now + sleptMs - leastSleepMs : now;
  }
}
