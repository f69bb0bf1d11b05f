import { atLeast, isPlainObject, shown } from "../runtime/values.ts";
import type { Hooks } from "./hooks.ts";
import { documentedLimits, limitFaults, scopeFaults } from "./limits.ts";
import { logLevels } from "./logger.ts";
import { isShared } from "./shared-limits.ts";

/** The options that only a client has, not checked yet. */
interface Given {
  readonly limits?: unknown;
  readonly limitScopes?: unknown;
  readonly maxRetryAfterMs?: unknown;
  readonly concurrency?: unknown;
  readonly interactiveReserve?: unknown;
  readonly maxQueued?: unknown;
  readonly maxResponseBytes?: unknown;
  readonly responseValidation?: unknown;
  readonly fetch?: unknown;
  readonly dispatcher?: unknown;
  readonly hooks?: unknown;
  readonly ledger?: unknown;
  readonly logger?: unknown;
  readonly logLevel?: unknown;
  readonly allowInsecureHttp?: unknown;
  readonly dangerouslyAllowBrowser?: unknown;
  readonly interception?: unknown;
}

const hookNames = Object.keys({
  onRequest: true,
  onResponse: true,
  onRetry: true,
  onWait: true,
  onValidationIssue: true,
} satisfies Record<keyof Hooks, true>);

const isFunction = (value: unknown): boolean => typeof value === "function";

/** Whether a value has all these methods, itself or by its class. */
const can = (value: unknown, ...methods: readonly string[]): boolean =>
  ((typeof value === "object" && value !== null) || typeof value === "function") &&
  methods.every((method) => isFunction(Reflect.get(value, method)));

const hooksFaults = (hooks: unknown): string[] => {
  // A logger or another class instance may have more properties than the hooks.
  const isInstance = !isPlainObject(hooks) && hookNames.some((name) => can(hooks, name));
  if (isInstance) return [];
  if (!isPlainObject(hooks)) return [`hooks must be an object of functions: ${hookNames.join(", ")}`];
  return Object.entries(hooks).flatMap(([name, hook]) => {
    if (!hookNames.includes(name)) {
      return [`hooks: there is no hook "${name}": there are ${hookNames.join(", ")}`];
    }
    return hook === undefined || isFunction(hook) ? [] : [`hooks.${name} must be a function`];
  });
};

const limitsFaults = (limits: unknown): string[] => {
  if (limits === undefined || limits === false) return [];
  if (!isShared(limits)) return limitFaults(limits);
  // Not typed, because an implementation of shared limits may be JavaScript.
  const numbers: unknown = limits.numbers;
  const isWhole = isPlainObject(numbers) && Object.keys(documentedLimits).every((name) => name in numbers);
  return isWhole && limitFaults(numbers).length === 0
    ? []
    : ["limits: shared limits must have all numbers, like those of redisLimits(…)"];
};

const oneOf = (
  faults: string[],
  name: string,
  { value, choices }: { readonly value: unknown; readonly choices: readonly unknown[] },
): void => {
  const names = choices.map((choice) => JSON.stringify(choice));
  if (value !== undefined && !choices.includes(value))
    faults.push(`${name} must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}, got ${shown(value)}`);
};

/** The faults of options that only a client has. The options that a call has too are checked elsewhere. */
export const clientFaults = (options: Given): string[] => {
  const { fetch, dispatcher, hooks, ledger, logger } = options;
  const faults: string[] = [];
  atLeast(faults, "maxRetryAfterMs", options.maxRetryAfterMs, 0, false);
  atLeast(faults, "concurrency", options.concurrency, 1, true);
  atLeast(faults, "maxQueued", options.maxQueued, 0, true);
  const { interactiveReserve } = options;
  if (
    interactiveReserve !== undefined &&
    !(Number(interactiveReserve) >= 0 && Number(interactiveReserve) <= 0.5)
  )
    faults.push(`interactiveReserve must be a number from 0 to 0.5, got ${shown(interactiveReserve)}`);
  atLeast(faults, "maxResponseBytes", options.maxResponseBytes, 1, true);
  faults.push(...limitsFaults(options.limits));
  if (options.limitScopes !== undefined) faults.push(...scopeFaults(options.limitScopes));
  oneOf(faults, "responseValidation", {
    value: options.responseValidation,
    choices: ["warn", "strict", "off"],
  });
  if (fetch !== undefined && !isFunction(fetch)) faults.push("fetch must be a function");
  if (dispatcher !== undefined && !can(dispatcher, "dispatch"))
    faults.push("dispatcher must be an undici Dispatcher");
  if (dispatcher !== undefined && fetch !== undefined)
    faults.push("fetch and dispatcher cannot be combined: a dispatcher belongs to the default transport");
  if (hooks !== undefined) faults.push(...hooksFaults(hooks));
  if (ledger !== undefined && !can(ledger, "claim", "settle"))
    faults.push("ledger must be memoryLedger(), fileLedger(path), or an object with claim and settle");
  oneOf(faults, "logLevel", { value: options.logLevel, choices: logLevels });
  if (logger !== undefined && !can(logger, "debug", "info", "warn", "error"))
    faults.push("logger must have debug, info, warn and error, like console");
  for (const name of ["allowInsecureHttp", "dangerouslyAllowBrowser", "interception"] as const)
    oneOf(faults, name, { value: options[name], choices: [true, false] });
  return faults;
};
