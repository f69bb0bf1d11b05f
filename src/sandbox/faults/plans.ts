import type { Random } from "../random.ts";
import { checkPlan } from "./check-plan.ts";
import type { Fault, FaultOptions, PlannedFault } from "./fault.ts";

/** The faults planned for coming requests. */
export interface FaultPlans {
  /** @throws ConfigurationError for a plan that no request could meet as it was meant. */
  add(options: FaultOptions): PlannedFault;
  /** The fault this request meets; asking counts the request. Where several plans fit, the oldest wins. */
  next(operation: string | undefined): Fault | undefined;
}

interface Plan {
  readonly options: FaultOptions;
  seen: number;
  hits: number;
}

const isDue = ({ options, seen }: Plan, random: Random): boolean => {
  const { nth = 1, times = 1, chance = 1 } = options;
  return seen >= nth && seen < nth + times && (chance >= 1 || random() < chance);
};

/** Starts without any plan. */
export const createFaultPlans = (random: Random): FaultPlans => {
  const plans = new Set<Plan>();
  return {
    add(options) {
      checkPlan(options);
      const plan: Plan = { options, seen: 0, hits: 0 };
      plans.add(plan);
      return {
        get hits() {
          return plan.hits;
        },
        remove: () => void plans.delete(plan),
      };
    },
    next(operation) {
      let fault: Fault | undefined;
      for (const plan of plans) {
        const wanted = plan.options.operation ?? "*";
        if (wanted !== "*" && wanted !== operation) continue;
        plan.seen += 1;
        if (fault !== undefined || !isDue(plan, random)) continue;
        plan.hits += 1;
        fault = plan.options.with;
      }
      return fault;
    },
  };
};
