/// <reference path="./bottleneck-light.d.ts" />
import type { LeasedBudget, LeaseSource } from "../options/shared-limits.ts";

const lightBottleneck = async (max: number) => {
  const { default: Bottleneck } = await import("bottleneck/light");
  return new Bottleneck({ maxConcurrent: max });
};

/**
 * Permits of one process: a bottleneck limiter in which a running job is a lease.
 *
 * A job per call would cost several times the call it guards, so a job leases a block, and the budget hands the
 * permits out one by one. bottleneck is loaded with the first lease: a script of a few calls never needs it.
 */
export class LocalLeases implements LeaseSource {
  readonly isValid = true;
  readonly givesUpAt = undefined;
  readonly usedElsewhere = 0;
  readonly comesAt = 0;
  readonly initial: number;
  readonly #max: number;
  readonly #block: number;
  readonly #ends: (() => void)[] = [];
  #limiter: ReturnType<typeof lightBottleneck> | undefined;
  #isLeasing = false;
  #isClosed = false;
  #budget: LeasedBudget | undefined;

  constructor(max: number) {
    this.#max = max;
    this.#block = Math.ceil(max / 20);
    // The first block is in hand before its lease is registered: nobody else can have used the budget yet.
    this.initial = Math.min(max, Math.max(this.#block, 25));
  }

  attach(budget: LeasedBudget): void {
    this.#budget = budget;
  }

  want(): void {
    const budget = this.#budget;
    if (budget === undefined || this.#isClosed || this.#isLeasing || budget.leased >= this.#max) return;
    this.#isLeasing = true;
    const count = Math.min(Math.max(budget.lacking, this.#block), this.#max - budget.leased);
    void this.#lease(count).then(() => {
      this.#isLeasing = false;
      budget.grant(count);
    });
  }

  paused(): void {}

  used(): void {}

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#ends.splice(0)) end();
  }

  async #lease(count: number): Promise<void> {
    if (this.#limiter === undefined) {
      this.#limiter = lightBottleneck(this.#max);
      await this.#hold(this.initial);
    }
    await this.#hold(count);
  }

  /** Resolves once a job of this weight runs; it runs until `close`. */
  async #hold(weight: number): Promise<void> {
    const limiter = await this.#limiter;
    // bottleneck works by timers: a lease begun after the end would keep the process for nobody.
    if (this.#isClosed) return;
    await new Promise<void>((granted, fail) => {
      const job = () =>
        new Promise<void>((end) => {
          this.#ends.push(end);
          granted();
        });
      limiter?.schedule({ weight }, job).catch(fail);
    });
  }
}

/** So many permits from the start, and never another. */
export const fixedLeases = (initial: number): LeaseSource => ({
  initial,
  isValid: true,
  givesUpAt: undefined,
  usedElsewhere: 0,
  comesAt: 0,
  attach: () => undefined,
  want: () => undefined,
  paused: () => undefined,
  used: () => undefined,
  close: async () => undefined,
});
