/**
 * Runs at most `limit` tasks at once. After a failure, `add` and `settled` reject with the first error, but only when
 * all running tasks have ended, so that their effects are known.
 */
export class InFlight {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#running.size === 0;
  }

  /** Starts a task as soon as there is room; resolves when it has started. */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#limit && this.#failure === undefined)
      await Promise.race(this.#running);
    if (this.#failure !== undefined) return this.settled();
    const running = task()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when any running task has ended. */
  async next(): Promise<void> {
    // After a failure nothing may be running.
    if (this.#failure === undefined) await Promise.race(this.#running);
    if (this.#failure !== undefined) await this.settled();
  }

  /** Resolves when every task has succeeded. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
