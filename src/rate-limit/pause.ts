/** A pause that the service asked for, and the probe after it. */
export class Pause {
  /** The end of the pause, on the clock that `start` got. */
  until = Number.NEGATIVE_INFINITY;
  /** The response that asked for the pause; undefined before the first. */
  by: string | undefined;
  #isProbeDue = false;
  #probe: object | undefined;

  /** Whether the probe is in flight. */
  get isProbeOut(): boolean {
    return this.#probe !== undefined;
  }

  /** Whether the probe is due or in flight. */
  get isProbing(): boolean {
    return this.#isProbeDue || this.isProbeOut;
  }

  /** A shorter pause never shortens a longer one. */
  start(until: number, by: string | undefined): void {
    if (until > this.until) [this.until, this.by] = [until, by];
    this.#isProbeDue = true;
  }

  took(request: object): void {
    if (this.#isProbeDue) this.#probe = request;
    this.#isProbeDue = false;
  }

  /** If the probe never left, the next request becomes the probe. */
  refunded(request: object): void {
    if (this.#probe === request) this.start(this.until, this.by);
    this.settled(request);
  }

  settled(request: object): void {
    if (this.#probe === request) this.#probe = undefined;
  }
}
