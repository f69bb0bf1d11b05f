import { ValidationError } from "../errors.ts";
import { isAbortSignal, shown, unknownKeys } from "../runtime/values.ts";

/** What the value of an option must be, for a check and for its message, which may repeat the value. */
export type Rule = readonly [fits: (value: unknown) => boolean, must: string, repeats?: "shown"];

/** The options of a method, or of a client; a function finds the faults itself. */
export type Rules = Readonly<Record<string, Rule | ((value: unknown) => readonly string[])>>;

export const isAtLeast = (least: number): Rule => [
  (value) => typeof value === "number" && value >= least,
  `a number of at least ${least}`,
  "shown",
];

export const isWhole = (least: number, most = Number.POSITIVE_INFINITY): Rule => [
  (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  most < Number.POSITIVE_INFINITY
    ? `a whole number from ${least} to ${most}`
    : `a whole number of at least ${least}`,
  "shown",
];

const isFunction = (value: unknown): boolean => typeof value === "function";

export const isCallback: Rule = [isFunction, "a function"];

export const isSignal: Rule = [isAbortSignal, "an AbortSignal"];

export const isOneOf = (...values: readonly unknown[]): Rule => {
  const names = values.map((value) => JSON.stringify(value));
  const must = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return [(value) => values.includes(value), must, "shown"];
};

/** Whether a value has all these methods, itself or by its class. */
export const can = (value: unknown, ...methods: readonly string[]): boolean =>
  ((typeof value === "object" && value !== null) || isFunction(value)) &&
  methods.every((method) => isFunction(Reflect.get(Object(value), method)));

/**
 * The faults of options; undefined stands for the default.
 *
 * @param suggested - the names that a misspelt one may mean.
 */
export const ruleFaults = (options: object, rules: Rules, suggested = Object.keys(rules)): string[] => {
  const faults = unknownKeys(options, Object.keys(rules), suggested);
  for (const [name, rule] of Object.entries(rules)) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined) continue;
    if (typeof rule === "function") faults.push(...rule(value));
    else if (!rule[0](value))
      faults.push(`${name} must be ${rule[1]}${rule[2] === undefined ? "" : `, got ${shown(value)}`}`);
  }
  return faults;
};

/** @throws ValidationError naming every fault, if there is one. */
export const refuseFaults = (operation: string, faults: readonly string[]): void => {
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};
