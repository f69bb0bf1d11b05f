import type { Limit } from "../limits.ts";
import type { Resource } from "./lane.ts";

/** How many requests of one client may be in flight. */
export class Slots implements Resource {
  readonly name = "concurrency";
  readonly limit: Limit;
  waiters = 0;
  readonly #max: number;
  #inUse = 0;

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

  free(): void {
    this.#inUse -= 1;
  }

  // Whoever frees a slot has the lanes looked at.
  want(): void {}

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
