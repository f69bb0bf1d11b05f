import { isDate } from "../runtime/values.ts";
import { operations } from "../service/operations.ts";
import {
  amount,
  type Check,
  flag,
  hintFor,
  listOf,
  oneOf,
  recordOf,
  refuse,
  shape,
  whole,
} from "./checks.ts";
import { faultNames, isBodiless } from "./fault-effects.ts";
import type { Fault, FaultOptions, PlannedFault } from "./faults.ts";
import { isFields } from "./json.ts";
import type { Random } from "./random.ts";

/** The operations that a plan can name. */
export const operationIds: readonly string[] = Object.values(operations).flatMap((group) =>
  Object.values(group).map(({ id }) => id),
);

const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const header: Check = (value, field) =>
  typeof value === "string" && headerValue.test(value) ? [] : [`${field} must be a valid header value`];

const retryAfter: Check = (value, field) => {
  if (isDate(value)) return Number.isNaN(value.getTime()) ? [`${field} is not a time`] : [];
  return typeof value === "number" ? amount(0)(value, field) : header(value, field);
};

const anything: Check = () => [];
// A status below 200 is not a final response.
const status = whole(200, 599);

const kinds = {
  status: shape({ status, retryAfter, body: anything, headers: recordOf(header), applied: flag }, "status"),
  redirect: shape({ redirect: header, status: whole(300, 399) }, "redirect"),
  items: shape({ items: listOf(whole(0, 99)), status }, "items"),
  delayMs: shape({ delayMs: amount(0) }, "delayMs"),
};

const fault: Check = (value, field) => {
  if (typeof value === "string") {
    return faultNames.includes(value)
      ? []
      : [`${field}: there is no fault "${value}"${hintFor(value, faultNames)}`];
  }
  // Checked in this order: a fault with `items` or `redirect` may have a status too.
  const kind =
    isFields(value) && (["items", "delayMs", "redirect", "status"] as const).find((name) => name in value);
  if (kind) return kinds[kind](value, field);
  return [`${field} must be the name of a fault, { status }, { redirect }, { items } or { delayMs }`];
};

const times: Check = (value, field) => (value === Number.POSITIVE_INFINITY ? [] : whole(1)(value, field));
const chance: Check = (value, field) =>
  typeof value === "number" && value >= 0 && value <= 1 ? [] : [`${field} must be a number from 0 to 1`];

const plan = shape(
  { operation: oneOf("*", ...operationIds), nth: whole(1), times, chance, with: fault },
  "with",
);

const misplaced = (options: unknown): string[] => {
  const { operation = "*", with: planned }: { operation?: unknown; with?: unknown } = Object(options);
  if (!isFields(planned)) return [];
  if ("body" in planned && planned.body !== undefined && isBodiless(planned.status)) {
    return [`with.body must be left out: a ${planned.status} has none`];
  }
  const hasItems = operation === "*" || operation === "events.recordBatch";
  return hasItems || !("items" in planned)
    ? []
    : ['with.items needs operation: "events.recordBatch", the only one with items'];
};

/** @throws ConfigurationError for an invalid plan, or one that could not have the intended effect. */
const checkPlan = (options: FaultOptions): void =>
  refuse("sandbox.fail", [...plan(options, ""), ...misplaced(options)]);

/** The faults planned for future requests. */
export interface FaultPlans {
  /** @throws ConfigurationError for an invalid plan, or one that could not have the intended effect. */
  add(options: FaultOptions): PlannedFault;
  /** Counts a request and returns its fault, if any. If several plans match, the oldest wins. */
  next(operation: string | undefined): Fault | undefined;
  /** Removes a plan; false if no plan has this id. */
  remove(id: number): boolean;
  /** The plans that can still apply, oldest first. */
  readonly pending: readonly PendingPlan[];
}

/** A plan that can still apply. */
export interface PendingPlan {
  /** A number, counted from 1. */
  readonly id: number;
  readonly options: FaultOptions;
  /** How many requests it applied to. */
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

/** Creates an empty set of plans. */
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
