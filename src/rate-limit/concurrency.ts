import type { ByPriority } from "../options/priority.ts";

/** How many requests of one client may be in flight. */
export class ConcurrencyLimit {
  readonly name = "concurrency";
  /** Requests that wait and need a slot. */
  readonly waiting: Record<keyof ByPriority, number> = { interactive: 0, background: 0 };
  readonly #max: number;
  #inUse = 0;
  readonly #wakes = new Set<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#inUse >= this.#max;
  }

  /** Requests in flight. */
  get inUse(): number {
    return this.#inUse;
  }

  take(): void {
    this.#inUse += 1;
  }

  /** Clients of different keys may share slots and wait in groups of their own: the group that waits longest is woken first. */
  free(): void {
    this.#inUse -= 1;
    for (const wake of [...this.#wakes]) {
      if (this.isFull) return;
      // A group that still waits joins the end.
      this.#wakes.delete(wake);
      wake();
    }
  }

  /** Calls `wake` once when a slot is free. */
  want(wake: () => void): void {
    this.#wakes.add(wake);
  }
}
