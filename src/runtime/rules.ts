import { ConfigurationError, ValidationError } from "../errors.ts";
import { suggestion } from "./nearest-name.ts";
import { hasOptions, isAbortSignal, isPlainObject, shown } from "./values.ts";

/** Returns the faults of an option's value. Each fault names the option. */
export type Rule = (value: unknown, name: string) => readonly string[];

/** The rules for the options of a method or a client, keyed by option name. */
export type Rules = Readonly<Record<string, Rule>>;

/** A rule for an option that is checked elsewhere, or that may have any value. */
export const anything: Rule = () => [];

/** Creates a rule. @param what - what the value must be, for the message. The message repeats the value. */
export const must =
  (what: string, fits: (value: unknown) => boolean): Rule =>
  (value, name) =>
    fits(value) ? [] : [`${name} must be ${what}, got ${shown(value)}`];

/** Whether a value is a number in this range. */
export const isNumber = (value: unknown, least: number, most = Number.POSITIVE_INFINITY): boolean =>
  typeof value === "number" && value >= least && value <= most;

export const mustBeAtLeast = (least: number): Rule =>
  must(`a number of at least ${least}`, (value) => isNumber(value, least));

export const mustBeWhole = (least: number, most = Number.POSITIVE_INFINITY): Rule =>
  must(
    most === Number.POSITIVE_INFINITY
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && isNumber(value, least, most),
  );

export const mustBeString = must("a string", (value) => typeof value === "string");

export const mustBeText = must("a non-empty string", (value) => typeof value === "string" && value !== "");

export const mustBeBoolean = must("true or false", (value) => typeof value === "boolean");

const isFunction = (value: unknown): boolean => typeof value === "function";

export const mustBeFunction = must("a function", isFunction);

export const mustBeSignal = must("an AbortSignal", isAbortSignal);

export const mustBeOneOf = (...values: readonly string[]): Rule => {
  const names = values.map((value) => JSON.stringify(value));
  const what = names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  const mustBeValue = must(what, (value) => values.some((allowed) => allowed === value));
  return (value, name) => {
    const hint = typeof value === "string" ? suggestion(value, values) : "";
    return mustBeValue(value, name).map((fault) => fault + hint);
  };
};

const none: readonly string[] = [];

/** Whether a value has all of these methods, own or inherited. */
export const can = (value: unknown, ...methods: readonly string[]): boolean =>
  ((typeof value === "object" && value !== null) || isFunction(value)) &&
  methods.every((method) => isFunction(Reflect.get(Object(value), method)));

/** A hint for a number in place of the options, because `items.map(method)` passes the index of each item there. */
const mapHint = (options: unknown): string =>
  typeof options === "number" ? "; as a callback of map, write items.map((item) => method(item))" : "";

/**
 * Finds the faults of options. If `input` is null or undefined, there are no options. An option that is undefined has
 * its default.
 *
 * @param within - the name of the option that contains these options.
 * @param required - the names of options without a default.
 */
export const ruleFaults = (input: unknown, rules: Rules, { within = "", required = none } = {}): string[] => {
  const options = input ?? {};
  if (!hasOptions(options))
    return [`the options must be an object, got ${shown(options)}${mapHint(options)}`];
  const names = Object.keys(rules);
  // For options inside of another option, list the few allowed names.
  const [prefix, suffix] =
    within === "" ? ["", ""] : [`${within}: `, `; the options are ${names.join(", ")}`];
  // Refuse unknown options, so that a misspelled option is not ignored.
  const faults = Object.keys(options)
    .filter((name) => !names.includes(name))
    .map((name) => `${prefix}there is no option "${name}"${suggestion(name, names)}${suffix}`);
  for (const [name, rule] of Object.entries(rules)) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined || required.includes(name))
      faults.push(...rule(value, within === "" ? name : `${within}.${name}`));
  }
  return faults;
};

/**
 * Copies options. Reads each option once, including inherited ones and accessors. If `options` itself is not an
 * object, for example a string, returns it unchanged, and `ruleFaults` then refuses it.
 *
 * @param rules - the known options.
 */
export const readOptions = <T extends object>(options: T | null | undefined, rules: Rules): T => {
  // If the caller passes no options, treat that as an empty object. `ruleFaults` then reports each required option as
  // missing.
  if (options === null || options === undefined) return {} as T;
  if (!hasOptions(options)) return options;
  const copy: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(options), ...Object.keys(rules)])) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) copy[name] = value;
  }
  // The copy has the same options, because `undefined` means the same as no value.
  return copy as T;
};

/** Creates a rule for an option that contains options. @param what - what its value must be. */
export const optionsOf =
  (rules: Rules, what: string, required = none): Rule =>
  (value, name) =>
    isPlainObject(value) ? ruleFaults(value, rules, { within: name, required }) : [`${name} must be ${what}`];

/** @throws ValidationError naming every fault, if there is one. */
export const refuseFaults = (operation: string, faults: readonly string[]): void => {
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

/**
 * Does the same as `refuseFaults` for the options of factories such as `fileLedger`, and for the arguments of the sandbox.
 *
 * @throws ConfigurationError naming every fault, if there is one.
 */
export const refuseSetup = (what: string, faults: readonly string[]): void => {
  if (faults.length > 0) throw new ConfigurationError(`${what}: ${faults.join("; ")}`);
};
