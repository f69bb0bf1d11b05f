/** A stop that the service asked for, and the one request that goes first after it. */
export class Pause {
  #until = Number.NEGATIVE_INFINITY;
  #by: string | undefined;
  #isProbeDue = false;
  #probe: object | undefined;

  /** Until when nothing may go, on the clock that `start` was told. */
  get until(): number {
    return this.#until;
  }

  /** The answer that asked for it; undefined before the first. */
  get by(): string | undefined {
    return this.#by;
  }

  /** Whether the request that goes first is on the wire. */
  get isProbeOut(): boolean {
    return this.#probe !== undefined;
  }

  /** Whether the request that goes first is due or on the wire. */
  get isProbing(): boolean {
    return this.#isProbeDue || this.isProbeOut;
  }

  /** A shorter stop never cuts a longer one. */
  start(until: number, by: string | undefined): void {
    if (until > this.#until) [this.#until, this.#by] = [until, by];
    this.#isProbeDue = true;
  }

  took(request: object): void {
    if (!this.#isProbeDue) return;
    this.#isProbeDue = false;
    this.#probe = request;
  }

  /** A request that never left leaves its turn to the next. */
  refunded(request: object): void {
    if (this.#probe !== request) return;
    this.#probe = undefined;
    this.#isProbeDue = true;
  }

  settled(request: object): void {
    if (this.#probe === request) this.#probe = undefined;
  }
}
