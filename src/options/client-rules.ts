import { isPlainObject } from "../runtime/values.ts";
import type { Hooks } from "./hooks.ts";
import { documentedLimits, limitFaults, scopeFaults } from "./limits.ts";
import { logLevels } from "./logger.ts";
import { can, isAtLeast, isCallback, isOneOf, isWhole, type Rules } from "./rules.ts";
import { isShared } from "./shared-limits.ts";
import { sharedRules } from "./validation.ts";

const hookNames = Object.keys({
  onRequest: true,
  onResponse: true,
  onRetry: true,
  onWait: true,
  onValidationIssue: true,
} satisfies Record<keyof Hooks, true>);

const hooksFaults = (hooks: unknown): string[] => {
  // A logger or another class instance may have more properties than the hooks.
  if (!isPlainObject(hooks) && hookNames.some((name) => can(hooks, name))) return [];
  if (!isPlainObject(hooks)) return [`hooks must be an object of functions: ${hookNames.join(", ")}`];
  return Object.entries(hooks).flatMap(([name, hook]) => {
    if (!hookNames.includes(name)) {
      return [`hooks: there is no hook "${name}": there are ${hookNames.join(", ")}`];
    }
    return hook === undefined || typeof hook === "function" ? [] : [`hooks.${name} must be a function`];
  });
};

const limitsFaults = (limits: unknown): string[] => {
  if (limits === false) return [];
  if (!isShared(limits)) return limitFaults(limits);
  // Not typed, because an implementation of shared limits may be JavaScript.
  const numbers: unknown = limits.numbers;
  const isWhole = isPlainObject(numbers) && Object.keys(documentedLimits).every((name) => name in numbers);
  return isWhole && limitFaults(numbers).length === 0
    ? []
    : ["limits: shared limits must have all numbers, like those of redisLimits(…)"];
};

const isShare = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= 0.5;

/** A rule for what is checked where it is used, together with other options. */
const elsewhere = (): string[] => [];

const yesOrNo = isOneOf(true, false);

/** The rules of the options of a client, and their names. */
export const clientRules = {
  ...sharedRules,
  apiKey: elsewhere,
  baseUrl: elsewhere,
  maxRetryAfterMs: isAtLeast(0),
  concurrency: isWhole(1),
  maxQueued: isWhole(0),
  interactiveReserve: [isShare, "a number from 0 to 0.5", "shown"],
  maxResponseBytes: isWhole(1),
  limits: limitsFaults,
  limitScopes: scopeFaults,
  responseValidation: isOneOf("warn", "strict", "off"),
  fetch: isCallback,
  dispatcher: [(value) => can(value, "dispatch"), "an undici Dispatcher"],
  proxy: elsewhere,
  hooks: hooksFaults,
  ledger: [
    (value) => can(value, "claim", "settle"),
    "memoryLedger(), fileLedger(path), or an object with claim and settle",
  ],
  logLevel: isOneOf(...logLevels),
  logger: (value) =>
    can(value, "debug", "info", "warn", "error")
      ? []
      : ["logger must have debug, info, warn and error, like console"],
  customFields: elsewhere,
  events: elsewhere,
  unknownFields: elsewhere,
  recipients: elsewhere,
  dryRun: yesOrNo,
  routes: elsewhere,
  allowInsecureHttp: yesOrNo,
  dangerouslyAllowBrowser: yesOrNo,
  interception: yesOrNo,
} satisfies Rules;
