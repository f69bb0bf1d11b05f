/// <reference path="./bottleneck-light.d.ts" />
/** Some permits of a budget, held until they are given back. */
export interface Lease {
  readonly weight: number;
  /** Gives them back, for whoever shares the budget. */
  end(): void;
}

/** Where a budget's permits come from: this process alone, or a store that many processes share. */
export interface LeaseSource {
  /** Resolves when `weight` permits are free; `weight` is at most the budget's maximum. */
  lease(weight: number): Promise<Lease>;
}

/**
 * Permits of one process: a bottleneck limiter in which a running job is a lease.
 *
 * A job per call would cost several times the call it guards, so a job leases a block, and the budget hands the
 * permits out one by one. bottleneck is loaded with the first lease: a script of a few calls never needs it.
 */
export const localLeases = (max: number): LeaseSource => {
  const limiter = import("bottleneck/light").then(
    ({ default: Bottleneck }) => new Bottleneck({ maxConcurrent: max }),
  );
  return {
    lease: async (weight) => {
      const queue = await limiter;
      return new Promise<Lease>((grant, fail) => {
        const job = () => new Promise<void>((end) => grant({ weight, end }));
        queue.schedule({ weight }, job).catch(fail);
      });
    },
  };
};
