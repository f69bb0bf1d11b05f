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

/**
 * How much of every round trip is certain to pass, as the latest ones tell.
 *
 * A permit's next use is counted a window after its last one when the answer's way back and the next request's way
 * there are part of that window. Both together take at least the floor. The floor is the smallest round trip seen,
 * less the average excess over it: random latency has no floor to speak of, constant latency is one.
 */
export class RoundTrips {
  readonly #stretchMs: number;
  readonly #slackMs: number;
  readonly #mostMs: number;
  #last: Stretch;
  #current: Stretch;

  /** Remembers one to two stretches; the floor stays `slackMs` below what they tell, and is `mostMs` at most. */
  constructor(stretchMs: number, { slackMs, mostMs }: { readonly slackMs: number; readonly mostMs: number }) {
    this.#stretchMs = stretchMs;
    this.#slackMs = slackMs;
    this.#mostMs = mostMs;
    this.#last = empty(Number.NEGATIVE_INFINITY);
    this.#current = empty(Number.NEGATIVE_INFINITY);
  }

  add(ms: number, now: number): void {
    const { since, leastMs, totalMs, count } = this.#current;
    if (now - since > this.#stretchMs && (count >= fewest || now - since > this.#stretchMs * fewest)) {
      this.#last = now - since > this.#stretchMs * fewest ? empty(now) : this.#current;
      this.#current = { since: now, leastMs: ms, totalMs: ms, count: 1 };
    } else {
      this.#current = { since, leastMs: Math.min(leastMs, ms), totalMs: totalMs + ms, count: count + 1 };
    }
  }

  get floorMs(): number {
    const count = this.#last.count + this.#current.count;
    // A few may all have been slow by chance: connecting, for one.
    if (count < fewest) return 0;
    const leastMs = Math.min(this.#last.leastMs, this.#current.leastMs);
    const averageMs = (this.#last.totalMs + this.#current.totalMs) / count;
    return Math.max(0, Math.min(leastMs - (averageMs - leastMs) - this.#slackMs, this.#mostMs));
  }
}
