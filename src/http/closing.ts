import type { Clock } from "../runtime/clock.ts";
import { type Deadline, joined } from "./deadline.ts";

type Listener = () => void;

/** How often a client has been closed, and who waits and is to hear of the next time. */
export class Closing {
  readonly #listeners = new Set<Listener>();
  readonly #end: () => Promise<void>;
  #count = 0;

  /** @param end - frees what carried the calls. */
  constructor(end: () => Promise<void> = async () => undefined) {
    this.#end = end;
  }

  get count(): number {
    return this.#count;
  }

  /** The client is closed now. */
  tell(): void {
    this.#count += 1;
    // A copy: a listener takes itself off the list.
    for (const listener of [...this.#listeners]) listener();
  }

  /** Ends the calls under way, and then what carried them. */
  async close(): Promise<void> {
    this.tell();
    await this.#end();
  }

  /** Calls back at the next closing; the answer undoes it. */
  onClose(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** One signal that also aborts at the next closing; at once, when there was one since the count was `since`. */
  joined(signal: AbortSignal | undefined, since: number, reason: () => unknown): Deadline {
    const closed = new AbortController();
    const close = (): void => closed.abort(reason());
    const forget = this.onClose(close);
    if (this.#count !== since) close();
    const bound = joined(signal, closed.signal);
    const release = (): void => {
      bound.release();
      forget();
    };
    return { signal: bound.signal, release };
  }

  /**
   * Resolves after `ms`, or when the client is closed: whatever is sent after that is refused.
   *
   * @throws the signal's reason as soon as it aborts.
   */
  async sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
    const closed = new Error("closed");
    const bound = this.joined(signal, this.#count, () => closed);
    try {
      await clock.sleep(ms, bound.signal);
    } catch (reason) {
      if (reason !== closed) throw reason;
    } finally {
      bound.release();
    }
  }
}
