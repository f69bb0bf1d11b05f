import type { Passage } from "./lane.ts";

/** A stop that the service asked for, and the one request that goes first after it. */
export class Pause {
  #until = Number.NEGATIVE_INFINITY;
  #by: string | undefined;
  #isProbeDue = false;
  #probe: Passage | undefined;

  /** Until when nothing may go, on the clock that `start` was told. */
  get until(): number {
    return this.#until;
  }

  /** What asked for it; undefined before the first. */
  get by(): string | undefined {
    return this.#by;
  }

  /** Whether one goes first and is not back yet. */
  get isOut(): boolean {
    return this.#probe !== undefined;
  }

  /** Whether the one that goes first is due or out. */
  get isProbing(): boolean {
    return this.#isProbeDue || this.isOut;
  }

  /** A shorter stop never cuts a longer one. */
  start(until: number, by: string | undefined): void {
    if (until > this.#until) [this.#until, this.#by] = [until, by];
    this.#isProbeDue = true;
  }

  took(by: Passage): void {
    if (!this.#isProbeDue) return;
    this.#isProbeDue = false;
    this.#probe = by;
  }

  /** One that never left leaves its turn to the next. */
  refunded(by: Passage): void {
    if (this.#probe !== by) return;
    this.#probe = undefined;
    this.#isProbeDue = true;
  }

  settled(by: Passage): void {
    if (this.#probe === by) this.#probe = undefined;
  }
}
