import { ValidationError } from "../errors.ts";
import { isAbortSignal, shown, unknownKeys } from "../runtime/values.ts";
import { callFaults } from "./validation.ts";

/** What the value of an option must be, for a check and for its message; a wrong number is repeated. */
export type Rule = readonly [fits: (value: unknown) => boolean, must: string, isNumber?: "number"];

/** The options of a method. */
export type Rules = Readonly<Record<string, Rule>>;

export const isWhole = (least: number, most = Number.POSITIVE_INFINITY): Rule => [
  (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  most < Number.POSITIVE_INFINITY
    ? `a whole number from ${least} to ${most}`
    : `a whole number of at least ${least}`,
  "number",
];

export const isCallback: Rule = [(value) => typeof value === "function", "a function"];

export const isSignal: Rule = [isAbortSignal, "an AbortSignal"];

export const isOneOf = (...values: readonly string[]): Rule => [
  (value) => values.some((known) => known === value),
  values.map((value) => JSON.stringify(value)).join(" or "),
];

/**
 * The faults of a method's options; undefined stands for the default.
 *
 * @param ofCalls - the names of the options that every call has, if the method takes them.
 */
export const ruleFaults = (options: object, rules: Rules, ofCalls: readonly string[] = []): string[] => [
  ...unknownKeys(options, [...Object.keys(rules), ...ofCalls]),
  ...(ofCalls.length > 0 ? callFaults(options) : []),
  ...Object.entries(rules).flatMap(([name, [fits, must, isNumber]]) => {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined || fits(value)) return [];
    return [`${name} must be ${must}${isNumber ? `, got ${shown(value)}` : ""}`];
  }),
];

/** @throws ValidationError naming every fault, if there is one. */
export const refuseFaults = (operation: string, faults: readonly string[]): void => {
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};
