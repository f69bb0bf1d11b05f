import type { Limit } from "../options/limits.ts";
import type { Resource } from "./lane.ts";

/** How many requests of one client may be in flight. */
export class Slots implements Resource {
  readonly name = "concurrency";
  readonly limit: Limit;
  waiters = 0;
  readonly #max: number;
  #inUse = 0;
  readonly #waiting = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
    this.limit = { max, perMs: 0 };
  }

  has(): boolean {
    return this.#inUse < this.#max;
  }

  take(): void {
    this.#inUse += 1;
  }

  /** Clients of different keys share slots, and stand in lines of their own: whoever has waited longest is woken first. */
  free(): void {
    this.#inUse -= 1;
    for (const wake of [...this.#waiting]) {
      if (!this.has()) return;
      // Who still waits then joins the end.
      this.#waiting.delete(wake);
      wake();
    }
  }

  want(_weight: number, wake: () => void): void {
    this.#waiting.add(wake);
  }

  keep(): void {}

  rest(): void {}

  get leased(): number {
    return this.#max;
  }

  // Nobody knows when an answer comes.
  readyInMs(): number {
    return Number.POSITIVE_INFINITY;
  }

  usedBy(): number {
    return 0;
  }

  backWithin(): number {
    return 0;
  }
}
