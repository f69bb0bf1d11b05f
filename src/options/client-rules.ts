import {
  anything,
  can,
  isNumber,
  must,
  mustBeAtLeast,
  mustBeBoolean,
  mustBeFunction,
  mustBeOneOf,
  mustBeWhole,
  optionsOf,
  type Rule,
  type Rules,
} from "../runtime/rules.ts";
import { isStandardSchema } from "../runtime/standard-schema.ts";
import { isPlainObject, isRecord } from "../runtime/values.ts";
import { reservedEventPrefix } from "../service/events.ts";
import { mustBeDeadline } from "./deadline.ts";
import { oldDispatcher } from "./fetch.ts";
import { hookNames } from "./hooks.ts";
import { limitFaults, scopeFaults, sharedLimitFaults } from "./limits.ts";
import { logLevels } from "./logger.ts";
import { isShared } from "./shared-limits.ts";
import { routeFaults, sharedRules } from "./validation.ts";

const mustBeHooks = optionsOf(
  Object.fromEntries(hookNames.map((name) => [name, mustBeFunction])),
  `an object of functions: ${hookNames.join(", ")}`,
);

// The hooks may be a class instance, for example a logger, which has other properties, too.
const hooksFaults: Rule = (hooks, within) =>
  !isPlainObject(hooks) && hookNames.some((name) => can(hooks, name)) ? [] : mustBeHooks(hooks, within);

const limitsFaults = (limits: unknown): readonly string[] => {
  if (limits === false) return [];
  return isShared(limits) ? sharedLimitFaults(limits.numbers) : limitFaults(limits);
};

const mustBeSchema = must("a Standard Schema, for example of zod, valibot or arktype", isStandardSchema);

const eventsFaults: Rule = (events, option) => {
  if (!isRecord(events) || Object.keys(events).length === 0)
    return [`${option} must be an object with a schema for each event name`];
  return Object.entries(events).flatMap(([name, schema]) =>
    name.startsWith(reservedEventPrefix)
      ? [`${option}: "${name}" is reserved for events that the service records itself`]
      : mustBeSchema(schema, `${option}["${name}"]`),
  );
};

/**
 * Recognizes a dispatcher of undici 5 or 6, whose handlers have other methods. In these versions `compose` is missing
 * or returns a new dispatcher. Since undici 7, `compose` returns a view of the same dispatcher. This check sends
 * nothing and runs no interceptor.
 */
const isOldDispatcher = (dispatcher: unknown): boolean => {
  // A custom dispatcher needs only `dispatch`.
  if (!can(dispatcher, "on", "close", "destroy")) return false;
  if (!can(dispatcher, "compose")) return true;
  // The checks above ensure that the methods exist.
  const { _events, compose } = dispatcher as { readonly _events?: unknown; compose: (all: []) => object };
  return Reflect.get(compose.call(dispatcher, []), "_events") !== _events;
};

const dispatcherFaults: Rule = (dispatcher, option) => {
  if (!can(dispatcher, "dispatch")) return [`${option} must be an undici Dispatcher`];
  return isOldDispatcher(dispatcher) ? [`${option}: ${oldDispatcher}`] : [];
};

const unknownFieldsRules: Rules = {
  mode: mustBeOneOf("error", "warn", "pass"),
  allow: must(
    "an array of field names",
    (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
  ),
};

/**
 * The rules of a client's options, keyed by option name. `settingsFrom` itself checks the options with the rule
 * `anything`, because they depend on other options or on the environment.
 */
export const clientRules = {
  ...sharedRules,
  apiKey: anything,
  baseUrl: anything,
  deadline: mustBeDeadline,
  maxRetryAfterMs: mustBeAtLeast(0),
  concurrency: mustBeWhole(1),
  maxQueued: mustBeWhole(0),
  interactiveReserve: must("a number from 0 to 0.5", (value) => isNumber(value, 0, 0.5)),
  maxResponseBytes: mustBeWhole(1),
  limits: limitsFaults,
  limitScopes: scopeFaults,
  responseValidation: mustBeOneOf("warn", "strict", "off"),
  fetch: mustBeFunction,
  dispatcher: dispatcherFaults,
  proxy: anything,
  hooks: hooksFaults,
  ledger: must("memoryLedger(), fileLedger(path), or an object with claim and settle", (value) =>
    can(value, "claim", "settle"),
  ),
  logLevel: mustBeOneOf(...logLevels),
  logger: (value) =>
    can(value, "debug", "info", "warn", "error")
      ? []
      : ["logger must have debug, info, warn and error, like console"],
  customFields: mustBeSchema,
  events: eventsFaults,
  unknownFields: optionsOf(unknownFieldsRules, "{ mode, allow }"),
  recipients: anything,
  dryRun: mustBeBoolean,
  routes: routeFaults,
  allowInsecureHttp: mustBeBoolean,
  dangerouslyAllowBrowser: mustBeBoolean,
  interception: mustBeBoolean,
} satisfies Rules;
