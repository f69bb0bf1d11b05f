interface Cooling {
  readonly until: number;
  readonly count: number;
  readonly by: object | undefined;
}

/**
 * Permits that were used and may not be used again yet, in the order in which they come back.
 *
 * A permit comes back a window after the *answer* to its request. The service had counted the request before
 * it answered, so the next use of the same permit falls in no window with this one, whichever way the service
 * counts, and no clock is compared.
 */
export class CoolingPermits {
  #entries: Cooling[] = [];
  #first = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** When the next permit comes back; undefined when none is cooling. */
  get nextAt(): number | undefined {
    return this.#entries[this.#first]?.until;
  }

  /** How many that were used, `by` somebody or by anybody, come back after one time, and by another. */
  backBetween(after: number, until: number, by?: object): number {
    let back = 0;
    for (let at = this.#first; ; at += 1) {
      const entry = this.#entries[at];
      if (entry === undefined || entry.until > until) return back;
      const isTheirs = by === undefined || entry.by === by;
      if (isTheirs && entry.until > after) back += entry.count;
    }
  }

  /** When `count` are back; undefined when fewer are cooling. */
  backAt(count: number): number | undefined {
    let back = 0;
    for (let at = this.#first; ; at += 1) {
      const entry = this.#entries[at];
      if (entry === undefined) return undefined;
      back += entry.count;
      if (back >= count) return entry.until;
    }
  }

  add(count: number, until: number, by?: object): void {
    this.#count += count;
    const entry = { until, count, by };
    let at = this.#entries.length;
    // Nearly always the last; only a batch larger than the budget is kept longer than those after it.
    while (at > this.#first && (this.#entries[at - 1]?.until ?? 0) > until) at -= 1;
    if (at === this.#entries.length) this.#entries.push(entry);
    else this.#entries.splice(at, 0, entry);
  }

  /** Takes out what has cooled by `now`, and tells how many permits that is. */
  take(now: number): number {
    let taken = 0;
    for (;;) {
      const entry = this.#entries[this.#first];
      if (entry === undefined || entry.until > now) break;
      taken += entry.count;
      this.#first += 1;
    }
    this.#count -= taken;
    if (this.#first > 1_000 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }
}
