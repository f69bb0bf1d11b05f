import type { Priority } from "../options/priority.ts";

/** What the requests of one kind hold of a budget: permits in use, and permits that cool after use. */
export class Holding {
  count = 0;
  readonly #ofBudget: Record<Priority, number>;
  readonly #priority: Priority;

  /** @param ofBudget - what all kinds hold, by priority; kept up to date here. */
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
 * Permits that were used and may not be used again yet, in the order in which they come back.
 *
 * A permit comes back a window after the *answer* to its request. The service had counted the request before it
 * answered, so the next use of the same permit falls in no window with this one, whichever way the service counts, and
 * no clock is compared.
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
    for (;;) {
      const entry = this.#entries[this.#first];
      if (entry === undefined || entry.until > now) break;
      entry.holding?.add(-entry.count);
      taken += entry.count;
      this.#first += 1;
    }
    this.#taken += taken;
    if (this.#first > 1_000 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }
}
