import {
  anything,
  isNumber,
  must,
  mustBeAtLeast,
  mustBeBoolean,
  mustBeOneOf,
  mustBeWhole,
  type Rule,
  refuseSetup,
  ruleFaults,
} from "../runtime/rules.ts";
import { isRecord } from "../runtime/values.ts";
import { listOf, or, recordOf, when } from "./checks.ts";
import { effectOf, faultNames, type PlannedEffect } from "./fault-effects.ts";
import type { FaultOptions, PlannedFault } from "./faults.ts";
import type { Random } from "./random.ts";
import { operationIds } from "./router.ts";

const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const header = must("a valid header value", (value) => typeof value === "string" && headerValue.test(value));

const retryAfter = when((value) => typeof value === "number", mustBeAtLeast(0), header);

// A status below 200 is not a final response.
const status = mustBeWhole(200, 599);

// The order matters, because a fault with `items` may have a status, too.
const kinds = {
  items: { items: listOf(mustBeWhole(0, 99)), status },
  delayMs: { delayMs: mustBeAtLeast(0) },
  status: { status, retryAfter, body: anything, headers: recordOf(header), applied: mustBeBoolean },
};

const isFaultName = mustBeOneOf(...faultNames);

const fault: Rule = (value, field) => {
  if (typeof value === "string") return isFaultName(value, field);
  for (const [kind, rules] of Object.entries(kinds))
    if (isRecord(value) && kind in value)
      return ruleFaults(value, rules, { within: field, required: [kind] });
  return [`${field} must be the name of a fault, { status }, { items } or { delayMs }`];
};

const planRules = {
  operation: mustBeOneOf("*", ...operationIds),
  nth: mustBeWhole(1),
  times: or(Number.POSITIVE_INFINITY, mustBeWhole(1)),
  chance: must("a number from 0 to 1", (value) => isNumber(value, 0, 1)),
  with: fault,
};

const misplaced = (options: unknown): string[] => {
  const { operation = "*", with: planned }: { operation?: unknown; with?: unknown } = Object(options);
  const hasItems = operation === "*" || operation === "events.recordBatch";
  return hasItems || !isRecord(planned) || !("items" in planned)
    ? []
    : ['with.items needs operation: "events.recordBatch", because only a batch has items'];
};

interface FaultPlan {
  /** The number of the plan, counted from 1. */
  readonly id: number;
  readonly options: FaultOptions;
  readonly effect: PlannedEffect;
  /** The number of requests so far to the plan's operation. */
  seen: number;
  /** The number of requests that failed because of the plan. */
  hits: number;
}

const isDue = ({ options, seen }: FaultPlan, random: Random): boolean => {
  const { nth = 1, times = 1, chance = 1 } = options;
  return seen >= nth && seen < nth + times && (chance >= 1 || random() < chance);
};

export const createFaultPlans = (random: Random) => {
  const plans = new Map<number, FaultPlan>();
  let count = 0;
  return {
    /** @throws ConfigurationError for an invalid plan, or one that could not have the intended effect. */
    add(options: FaultOptions): PlannedFault {
      const faults = ruleFaults(options, planRules, { required: ["with"] });
      refuseSetup("sandbox.fail", [...faults, ...misplaced(options)]);
      count += 1;
      const plan: FaultPlan = { id: count, options, effect: effectOf(options.with), seen: 0, hits: 0 };
      plans.set(plan.id, plan);
      return {
        get hits() {
          return plan.hits;
        },
        remove: () => void plans.delete(plan.id),
      };
    },
    /** Counts a request and returns what its fault does, if any. If several plans match, the oldest wins. */
    next(operation: string | undefined): PlannedEffect | undefined {
      let effect: PlannedEffect | undefined;
      for (const plan of plans.values()) {
        const wanted = plan.options.operation ?? "*";
        if (wanted !== "*" && wanted !== operation) continue;
        plan.seen += 1;
        if (effect !== undefined || !isDue(plan, random)) continue;
        plan.hits += 1;
        effect = plan.effect;
      }
      return effect;
    },
    /** The plans that can still apply, oldest first. */
    get pending() {
      return [...plans.values()]
        .filter(({ options: { nth = 1, times = 1 }, seen }) => seen < nth + times - 1)
        .map(({ id, options, hits }) => ({ id, options, hits }));
    },
    /** Removes a plan. Returns false if no plan has this id. */
    remove: (id: number) => plans.delete(id),
  };
};
