interface Stretch {
  readonly since: number;
  readonly leastMs: number;
  readonly totalMs: number;
  readonly count: number;
}

const empty = (since: number): Stretch => ({
  since,
  leastMs: Number.POSITIVE_INFINITY,
  totalMs: 0,
  count: 0,
});

const fewest = 20;
const mostStretches = 6;
const longestStretches = 20;

/**
 * How much of every round trip is certain to pass, as the latest ones tell.
 *
 * A permit's next use is counted a window after its last one when the answer's way back and the next request's way
 * there are part of that window. Both together take at least the floor. The floor is the smallest round trip seen,
 * less the average excess over it: random latency has no floor to speak of, constant latency is one. A busy moment
 * slows every answer alike, so nothing is believed that was not true for a whole stretch of time.
 */
export class LatencyFloor {
  readonly #stretchMs: number;
  readonly #slackMs: number;
  readonly #mostMs: number;
  /** Whole stretches, oldest first. */
  #past: readonly Stretch[] = [];
  #current = empty(Number.NEGATIVE_INFINITY);
  #floorMs = 0;

  /** Remembers six stretches; the floor stays `slackMs` below what they tell, and is `mostMs` at most. */
  constructor(stretchMs: number, { slackMs, mostMs }: { readonly slackMs: number; readonly mostMs: number }) {
    this.#stretchMs = stretchMs;
    this.#slackMs = slackMs;
    this.#mostMs = mostMs;
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
    return Math.max(0, Math.min(leastMs - excessMs - this.#slackMs, this.#mostMs));
  }
}

// However long a round trip seems to take for certain, most of the window is waited out.
export const mostAllowance = 1 / 3;

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
