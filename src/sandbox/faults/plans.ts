import type { Random } from "../random.ts";
import { checkPlan } from "./check-plan.ts";
import type { Fault, FaultOptions, PlannedFault } from "./fault.ts";

/** The faults planned for coming requests. */
export interface FaultPlans {
  /** @throws ConfigurationError for a plan that no request could meet as it was meant. */
  add(options: FaultOptions): PlannedFault;
  /** The fault this request meets; asking counts the request. Where several plans fit, the oldest wins. */
  next(operation: string | undefined): Fault | undefined;
  /** Takes a plan back; false where there is none of this number. */
  remove(id: number): boolean;
  /** Those that requests can still meet, oldest first. */
  readonly pending: readonly PendingPlan[];
}

/** A plan that is not over. */
export interface PendingPlan {
  /** A number, counted from 1. */
  readonly id: number;
  readonly options: FaultOptions;
  /** How many requests met it. */
  readonly hits: number;
}

interface Plan {
  readonly id: number;
  readonly options: FaultOptions;
  seen: number;
  hits: number;
}

const isOver = ({ options: { nth = 1, times = 1 }, seen }: Plan): boolean => seen >= nth + times - 1;

const isDue = ({ options, seen }: Plan, random: Random): boolean => {
  const { nth = 1, times = 1, chance = 1 } = options;
  return seen >= nth && seen < nth + times && (chance >= 1 || random() < chance);
};

/** Starts without any plan. */
export const createFaultPlans = (random: Random): FaultPlans => {
  const plans = new Map<number, Plan>();
  let count = 0;
  return {
    add(options) {
      checkPlan(options);
      count += 1;
      const plan: Plan = { id: count, options, seen: 0, hits: 0 };
      plans.set(plan.id, plan);
      return {
        get hits() {
          return plan.hits;
        },
        remove: () => void plans.delete(plan.id),
      };
    },
    next(operation) {
      let fault: Fault | undefined;
      for (const plan of plans.values()) {
        const wanted = plan.options.operation ?? "*";
        if (wanted !== "*" && wanted !== operation) continue;
        plan.seen += 1;
        if (fault !== undefined || !isDue(plan, random)) continue;
        plan.hits += 1;
        fault = plan.options.with;
      }
      return fault;
    },
    get pending() {
      return [...plans.values()]
        .filter((plan) => !isOver(plan))
        .map(({ id, options, hits }) => ({ id, options, hits }));
    },
    remove: (id) => plans.delete(id),
  };
};
