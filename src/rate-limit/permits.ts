import type { Limit } from "../options/limits.ts";
import type { DayCount } from "../options/shared-limits.ts";
import { Link } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";

/** The round trips of one period. */
interface Period {
  readonly since: number;
  leastMs: number;
  totalMs: number;
  count: number;
}

const never = Infinity;

/** A period is complete only with this many round trips. */
const fewestTrips = 20;
/** How many complete periods count. */
const mostPeriods = 6;
/** A period that started this many period lengths ago is outdated. */
const outdatedLengths = 20;

/**
 * The shortest time that a round trip is expected to take, based on recent round trips. The service must count two uses
 * of a permit at least a window apart. The way back of the first response and the way there of the next request are
 * part of that window, so the wait between them can be shorter by the floor. The floor is the shortest recent round
 * trip, less the average excess over the shortest: almost 0 for random latency, almost all of a constant latency. A
 * busy moment slows every response, so there is no floor before a whole period was measured.
 */
export class LatencyFloor {
  readonly #periodMs: number;
  readonly #bounds: { readonly slackMs: number; readonly mostMs: number };
  /** Periods, oldest first; the last one is not complete. */
  #periods: readonly Period[] = [];
  floorMs = 0;

  /** The floor stays `slackMs` below the value that the latest periods show, and is at most `mostMs`. */
  constructor(periodMs: number, bounds: { readonly slackMs: number; readonly mostMs: number }) {
    this.#periodMs = periodMs;
    this.#bounds = bounds;
  }

  add(ms: number, now: number): void {
    let current = this.#periods.at(-1);
    const isOutdated = current === undefined || now - current.since > this.#periodMs * outdatedLengths;
    const isComplete =
      current !== undefined && now - current.since >= this.#periodMs && current.count >= fewestTrips;
    if (current === undefined || isOutdated || isComplete) {
      current = { since: now, leastMs: never, totalMs: 0, count: 0 };
      if (isOutdated) this.floorMs = 0;
      this.#periods = isOutdated ? [current] : [...this.#periods.slice(-mostPeriods), current];
    }
    current.leastMs = Math.min(current.leastMs, ms);
    current.totalMs += ms;
    current.count += 1;
    // Without a complete period, a busy moment would look like a floor.
    if (this.#periods.length < 2) return;
    let [leastMs, totalMs, count] = [never, 0, 0];
    for (const period of this.#periods) {
      leastMs = Math.min(leastMs, period.leastMs);
      totalMs += period.totalMs;
      count += period.count;
    }
    const excessMs = totalMs / count - leastMs;
    this.floorMs = Math.max(0, Math.min(leastMs - excessMs - this.#bounds.slackMs, this.#bounds.mostMs));
  }
}

// The largest floor, as a part of the window, however long round trips seem to take.
const mostFloor = 1 / 3;

// Long periods, because a starting or busy machine responds late for seconds, and then suddenly no longer.
const periodWindows = 10;
// A busy machine adds some time to every round trip for a while. The slack, a part of the window, keeps that time out
// of the floor, because so small a saving is not worth a 429. `mostSlackMs` suits long windows too: their periods are
// longer, so a fast response in each period is more likely.
const floorSlack = 0.015;
const mostSlackMs = 15;

export const latencyFloorFor = (windowMs: number): LatencyFloor =>
  new LatencyFloor(windowMs * periodWindows, {
    slackMs: Math.min(windowMs * floorSlack, mostSlackMs),
    mostMs: windowMs * mostFloor,
  });

/** Returns how long the permits of a request cool down, in milliseconds. */
export const coolMs = ({ max, windowMs }: Limit, weight: number, wasAnswered: boolean): number => {
  // Without a response, it is unknown when the service counted the request. So the extra time cancels any floor.
  const extraMs = wasAnswered ? 0 : windowMs * mostFloor;
  // A service that counts whole milliseconds may see a window up to 1 ms shorter, and no two clocks run equally fast.
  const marginMs = 1 + windowMs * 0.0001;
  return windowMs * Math.max(1, weight / max) + marginMs + extraMs;
};

// A timer set for the return of a permit may fire early by a rounding error.
const roundingMs = 0.001;

/** Permits that return together. */
interface Cooling<Holder> {
  readonly until: number;
  readonly count: number;
  readonly holder: Holder;
}

/**
 * The permits of one budget in this process: idle, in use, or cooling down until a window after the *response*. The
 * service counts a request before it responds. Therefore two uses of a permit never fall into one window, however the
 * service counts, and the clocks of client and service need not agree.
 */
export class Permits<Holder> {
  readonly #limit: Limit;
  readonly #clock: Clock;
  #idle: number;
  readonly #taken = new Map<Holder, number>();
  /** A ring in the order of return. With an array, moving 40,000 entries took 90 µs per request. */
  readonly #cooling = new Link<Cooling<Holder> | undefined>(undefined);
  readonly #latency: LatencyFloor;

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#idle = limit.max;
    this.#latency = latencyFloorFor(limit.windowMs);
  }

  /** The number of idle permits. */
  get idle(): number {
    this.#thaw();
    return this.#idle;
  }

  /** The holders of permits in use or cooling down, with the number of each. */
  get taken(): ReadonlyMap<Holder, number> {
    this.#thaw();
    return this.#taken;
  }

  /**
   * The least time in which `amount` permits can be taken, in milliseconds. Idle permits are free now, cooling permits
   * at their return, and permits in use after a window. An amount above the limit uses the permits again, a window
   * later each time.
   */
  readyInMs(amount: number): number {
    const { max, windowMs } = this.#limit;
    if (amount <= this.idle) return 0;
    const rounds = Math.ceil(amount / max) - 1;
    const lacking = amount - rounds * max - this.#idle;
    if (lacking <= 0) return rounds * windowMs;
    const backAt = this.backAt(lacking);
    const inUseMs = windowMs - this.#latency.floorMs;
    return rounds * windowMs + (backAt === undefined ? inUseMs : backAt - this.#clock.now());
  }

  /** A negative amount gives permits back at once, because the request was never sent. */
  take(amount: number, holder: Holder): void {
    this.#idle -= amount;
    const count = (this.#taken.get(holder) ?? 0) + amount;
    if (count > 0) this.#taken.set(holder, count);
    else this.#taken.delete(holder);
  }

  /**
   * Starts the cooling of a request's permits. They return when no window can contain both this use and the next one.
   * `roundTripMs` is undefined without a response. A batch larger than the limit keeps all permits for as many windows
   * as it fills.
   */
  cool(weight: number, roundTripMs: number | undefined, holder: Holder): void {
    const { max } = this.#limit;
    if (max === never) return this.take(-weight, holder);
    const now = this.#clock.now();
    if (roundTripMs !== undefined) this.#latency.add(roundTripMs, now);
    const until = now + coolMs(this.#limit, weight, roundTripMs !== undefined);
    let next = this.#cooling;
    // Skip entries that return later: those of a batch larger than the limit, or of a request without a response.
    while ((next.previous.value?.until ?? 0) > until) next = next.previous;
    new Link<Cooling<Holder> | undefined>({ until, count: Math.min(weight, max), holder }, next);
  }

  /** Returns when `count` cooling permits are free again; undefined if fewer are cooling down. */
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

// Daily use is counted in slots of five minutes. A slot expires a day after its end. The service document does not say
// when a day starts, so the limit applies to any 24 hours, which satisfies every interpretation.

export const dayMs = 86_400_000;
// A day touches up to 289 slots: 288 complete ones and the current one.
export const slotMs = 300_000;

/** Pairs of a slot number and the use counted in that slot, oldest first; unused slots are left out. */
export type DaySlots = readonly number[];

/** Returns the use counted in all slots. */
export const sumOfSlots = (slots: DaySlots): number => {
  let sum = 0;
  for (let at = 1; at < slots.length; at += 2) sum += slots[at] ?? 0;
  return sum;
};

/** Returns the slots that have not expired. */
export const currentSlots = (slots: DaySlots, now: number): DaySlots => {
  const oldest = Math.floor((now - dayMs) / slotMs);
  let gone = 0;
  while ((slots[gone] ?? oldest) < oldest) gone += 2;
  return gone > 0 ? slots.slice(gone) : slots;
};

/**
 * Returns the slots with `weight` added. A negative weight gives back unused weight, from the latest slot backwards. If
 * the slots hold less, the remaining weight was counted in slots that have expired.
 */
export const chargedSlots = (slots: DaySlots, now: number, weight: number): DaySlots => {
  const slot = Math.floor(now / slotMs);
  const isNew = weight > 0 && (slots.at(-2) ?? Number.NEGATIVE_INFINITY) < slot;
  // Both methods allocate no spare capacity, which would add up over thousands of API keys.
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

/**
 * Returns the time until the oldest slots that together hold `weight` have expired, in milliseconds; 0 if all slots
 * hold less.
 */
export const slotsFreeInMs = (slots: DaySlots, now: number, weight: number): number => {
  let left = weight;
  for (let at = 0; left > 0 && at < slots.length; at += 2) {
    left -= slots[at + 1] ?? 0;
    if (left <= 0) return ((slots[at] ?? 0) + 1) * slotMs + dayMs - now;
  }
  return 0;
};

// If the wall clock is less than this ahead, the machine has not slept: a gradually corrected wall clock gains up to 43
// s a day on the client's clock.
const leastSleepMs = 60_000;

/**
 * Counts a day's use in this process.
 *
 * The client's clock stands still while the machine sleeps. So the time by which the wall clock gets ahead of the
 * client's clock counts too. Setting the wall clock back can undo only this additional time.
 */
export class DailyLimit implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  /** The lead of the wall clock over the client's clock at the start. */
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

  /** Counts `weight`; a negative weight returns an unused one. */
  add(weight: number): void {
    if (this.max === never) return;
    this.#slots = chargedSlots(this.#slots, this.#now(), weight);
    this.#used = weight > 0 ? this.#used + weight : sumOfSlots(this.#slots);
  }

  /** The number of milliseconds until `weight` more fits. */
  resetsInMs(weight: number): number {
    return slotsFreeInMs(this.#slots, this.#now(), weight - (this.max - this.used));
  }

  #now(): number {
    const now = this.#clock.now();
    const sleptMs = this.#clock.wallTime() - now - this.#startGapMs;
    return sleptMs > leastSleepMs ? now + sleptMs - leastSleepMs : now;
  }
}
