import type { SharedBudget } from "../../src/options/shared-limits.ts";

/** A shared limit that admits every request, and a log of the calls that it gets. */
export const sharedBudget = (change: Partial<SharedBudget> = {}) => {
  const log: string[] = [];
  const shared: SharedBudget = {
    lost: undefined,
    gateOf: () => ({
      seek: () => log.push("seek"),
      readyAt: () => undefined,
      isGranted: () => false,
      isLapsed: () => false,
      lacks: undefined,
      take: () => undefined,
      drop: () => undefined,
      settle: () => undefined,
    }),
    inUse: 0,
    name: "day",
    max: 1,
    used: 0,
    has: () => true,
    add: () => undefined,
    resetsInMs: () => 0,
    interactive: undefined,
    attach: ({ name }) => log.push(`attached ${name}`),
    paused: (ms, by) => log.push(`paused for ${ms} by ${by}`),
    close: async () => void log.push("closed"),
    ...change,
  };
  return { shared, log };
};
