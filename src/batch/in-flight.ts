import type Bottleneck from "bottleneck";

type Task = () => Promise<void>;

/** Schedules a task. Resolves when the task has started. Rejects if the limiter drops it. */
const start = (limiter: Bottleneck, task: Task): Promise<void> =>
  new Promise((started, dropped) => {
    const job = (): Promise<void> => {
      started();
      return task();
    };
    limiter.schedule(job).catch(dropped);
  });

/**
 * Runs at most `limit` tasks at once, in the order in which they are added. Await each `add` before the next one. After
 * a failure, `add`, `next` and `settled` reject with the first error, but only when all running tasks have ended, so
 * that the effects of those tasks are known.
 *
 * The package `bottleneck` schedules the tasks. It is loaded only for a second task, because most calls have a single
 * request.
 */
export class InFlight {
  readonly #limit: number;
  #first: Promise<void> | undefined;
  #limiter: Bottleneck | undefined;
  #stopping: Promise<void> | undefined;
  #running = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#running === 0;
  }

  /** Starts a task when fewer than `limit` tasks are running. Resolves when the task has started. */
  async add(task: Task): Promise<void> {
    if (this.#first === undefined) {
      this.#first = this.#run(task);
      return;
    }
    this.#limiter ??= await this.#open(this.#first);
    if (this.#failure !== undefined) return this.settled();
    try {
      await start(this.#limiter, () => this.#run(task));
    } catch (error) {
      await this.settled();
      throw error;
    }
  }

  /** Resolves when any running task has ended. */
  async next(): Promise<void> {
    if (this.#failure === undefined) await new Promise((resolve) => this.#limiter?.once("done", resolve));
    if (this.#failure !== undefined) await this.settled();
  }

  /** Stops accepting tasks. Resolves when every task has succeeded. */
  async settled(): Promise<void> {
    await this.#stop();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #open(first: Promise<void>): Promise<Bottleneck> {
    const { default: Limiter } = await import("bottleneck/light.js");
    const limiter = new Limiter({ maxConcurrent: this.#limit });
    // Without a listener, bottleneck ignores its own failures, and a job might never start.
    limiter.on("error", (error: unknown) => this.#fail(error));
    // The first task is already running, so it takes the first slot.
    await start(limiter, () => first);
    return limiter;
  }

  async #run(task: Task): Promise<void> {
    this.#running += 1;
    try {
      await task();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#running -= 1;
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    // Stop before the limiter gives the slot of this task to a waiting task.
    void this.#stop();
  }

  async #stop(): Promise<void> {
    this.#stopping ??= this.#limiter?.stop();
    await Promise.all([this.#stopping, this.#first]);
  }
}

/** Works on the items in chunks of `size`, `limit` chunks at once. Fails as `InFlight` does. */
export const inChunks = async <T>(
  items: readonly T[],
  { size, limit }: { readonly size: number; readonly limit: number },
  work: (chunk: readonly T[], at: number) => Promise<void>,
): Promise<void> => {
  const flight = new InFlight(limit);
  for (let at = 0; at < items.length; at += size)
    await flight.add(() => work(items.slice(at, at + size), at));
  await flight.settled();
};
