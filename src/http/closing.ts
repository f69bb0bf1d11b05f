import type { Clock } from "../clock.ts";
import { joined } from "./deadline.ts";

type Listener = () => void;

/** How often a client has been closed, and who waits and is to hear of the next time. */
export class Closing {
  readonly #listeners = new Set<Listener>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The client is closed now. */
  tell(): void {
    this.#count += 1;
    // A copy: a listener takes itself off the list.
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls back at the next closing; the answer undoes it. */
  onClose(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Resolves after `ms`, or when the client is closed: whatever is sent after that is refused.
   *
   * @throws the signal's reason as soon as it aborts.
   */
  async sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
    const closed = new AbortController();
    const release = this.onClose(() => closed.abort());
    const bound = joined(signal, closed.signal);
    try {
      await clock.sleep(ms, bound.signal);
    } catch (reason) {
      if (signal?.aborted || !closed.signal.aborted) throw reason;
    } finally {
      bound.release();
      release();
    }
  }
}
