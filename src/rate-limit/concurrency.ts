import type { ByPriority } from "../options/priority.ts";

/** A queue of requests that need a slot. */
interface WaitingQueue {
  /** Admits every request that can go. */
  pump(): void;
  /** Refuses the waiting requests, and returns how many there were. */
  refuseWaiting(reason: unknown): number;
}

/** How many requests of one client may be in flight. */
export class ConcurrencyLimit {
  readonly name = "concurrency";
  /** Requests that wait and need a slot. */
  readonly waiting: Record<keyof ByPriority, number> = { interactive: 0, background: 0 };
  readonly #max: number;
  #inUse = 0;
  /** Those with waiting requests; the one that waits longest for a slot comes first. */
  readonly #queues = new Set<WaitingQueue>();
  #closing: unknown;
  #onIdle: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#inUse >= this.#max;
  }

  /** How many more requests may be in flight. */
  get room(): number {
    return this.#max - this.#inUse;
  }

  /** Requests in flight. */
  get inUse(): number {
    return this.#inUse;
  }

  take(): void {
    this.#inUse += 1;
  }

  /** Clients of different keys may share slots but wait in separate queues: these take turns. */
  free(): void {
    const wasFull = this.isFull;
    this.#inUse -= 1;
    if (this.#inUse === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    for (const queue of wasFull ? [...this.#queues] : []) {
      if (this.isFull) return;
      // One that waits no longer was removed in the meantime.
      if (this.#queues.delete(queue)) this.#queues.add(queue);
      queue.pump();
    }
  }

  /** A queue of requests that need a slot has become busy, or idle. */
  track(queue: WaitingQueue, isBusy: boolean): void {
    if (isBusy) this.#queues.add(queue);
    else this.#queues.delete(queue);
  }

  /** Why no request may start to wait or go, except drained ones; undefined while the client is open. */
  get closing(): unknown {
    return this.#closing;
  }

  /** Refuses waiting requests, and new ones until `reopen`, except drained ones. Returns how many waited. */
  startClosing(reason: unknown): number {
    this.#closing = reason;
    return [...this.#queues].reduce((sum, queue) => sum + queue.refuseWaiting(reason), 0);
  }

  reopen(): void {
    this.#closing = undefined;
  }

  /** Resolves when no request is in flight. */
  async whenIdle(): Promise<void> {
    if (this.#inUse > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }
}
