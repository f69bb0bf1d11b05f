import { DeadlineExceeded, type Lifetime, openScope, untilAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";

/** What may end a wait: the caller's signal, the total time of a call, or the close of its client. */
export interface Limits {
  readonly signal?: AbortSignal | undefined;
  readonly totalTimeoutMs?: number | undefined;
  readonly lifetime?: Pick<Lifetime, "signal"> | undefined;
}

/** Limits the waits around a call, as the call limits its own. */
export class Bounds {
  readonly #limits: Limits;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #startedAt: number;

  constructor(limits: Limits, clock: Pick<Clock, "now" | "after">) {
    this.#limits = limits;
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** What is left of the total time, in milliseconds and at least 1; undefined without such a limit. */
  get leftMs(): number | undefined {
    const { totalTimeoutMs } = this.#limits;
    if (totalTimeoutMs === undefined) return undefined;
    return Math.max(1, Math.ceil(totalTimeoutMs - (this.#clock.now() - this.#startedAt)));
  }

  /** Waits for a promise within these limits: rejects with the signal's reason, or with `late()`. */
  async within<T>(promise: Promise<T>, late: () => Error): Promise<T> {
    const deadline = { totalTimeoutMs: this.leftMs, clock: this.#clock };
    const { signal, release } = openScope([this.#limits.signal, this.#limits.lifetime?.signal], deadline);
    try {
      return await untilAborted(promise, signal);
    } catch (error) {
      throw error instanceof DeadlineExceeded ? late() : error;
    } finally {
      release();
    }
  }
}
