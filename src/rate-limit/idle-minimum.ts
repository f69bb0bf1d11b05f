/**
 * The least a level has been of late: so much of it nobody has needed.
 *
 * Remembered in two stretches of time, the one that runs and the one before it.
 */
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
