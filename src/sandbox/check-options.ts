import {
  anything,
  can,
  isNumber,
  must,
  mustBeBoolean,
  mustBeOneOf,
  mustBeText,
  mustBeWhole,
  optionsOf,
  type Rule,
  refuseSetup,
  ruleFaults,
} from "../runtime/rules.ts";
import { isRecord } from "../runtime/values.ts";
import { each } from "../service/common.ts";
import { allOperations } from "../service/operations.ts";
import { listOf, mustBeTime, or, recordOf, when } from "./checks.ts";
import { isArray } from "./json.ts";
import { defaultWorkspace } from "./keys.ts";
import {
  type ApiKeyOptions,
  documentedLimits,
  type SandboxOptions,
  type WorkspaceOptions,
} from "./options.ts";
import { defaultMailAccount } from "./store/mail-account.ts";

const changeableRules = {
  scopes: listOf(mustBeOneOf(...new Set(allOperations.flatMap(({ scope }) => scope)))),
  expiresAt: mustBeTime,
  revoked: mustBeBoolean,
  role: mustBeOneOf("admin", "editor", "viewer"),
  mailAccount: mustBeText,
};

// The message doesn't repeat the key, because it is a secret.
const key: Rule = (value, name) =>
  typeof value === "string" && /^\S+$/.test(value) ? [] : [`${name} must be a string without blanks`];

const keyRules = { key, workspace: mustBeText, ...changeableRules };

const automationRules = {
  ...each(mustBeText, "name", "startsOn", "waitsFor", "exitsOn", "goalOn", "correlateBy"),
  transactional: mustBeBoolean,
};

const accountRules = {
  ...each(mustBeText, "id", "from", "failing"),
  connected: mustBeBoolean,
  dailyLimit: mustBeWhole(1),
};

const workspaceRules = {
  customFields: recordOf(mustBeOneOf("text", "number", "boolean", "date")),
  signatures: listOf(mustBeText),
  mailAccounts: listOf(optionsOf(accountRules, "an object", ["id"])),
  doNotEmail: listOf(mustBeText),
  tracking: mustBeBoolean,
  automations: listOf(optionsOf(automationRules, "an object", ["name", "startsOn"])),
};

const isAbove0 = (value: unknown): boolean => typeof value === "number" && value > 0;
const above0 = must("a number above 0", isAbove0);
const limit = when(
  isRecord,
  optionsOf({ max: above0, windowMs: above0 }, "{ max, windowMs }", ["max", "windowMs"]),
  must(
    "a number above 0, { max, windowMs }, or false for no limit",
    (value) => value === false || isAbove0(value),
  ),
);

const limitRules = Object.fromEntries(Object.keys(documentedLimits).map((name) => [name, limit]));

const isLatency = (value: unknown): boolean => {
  const [min, max, ...others] = isArray(value) ? value : [value, value];
  return isNumber(min, 0) && isNumber(max, Number(min)) && others.length === 0;
};

const clockParts = ["now", "wallTime", "after", "sleep"];

const isHttpUrl = (value: unknown): boolean =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

const sandboxRules = {
  ...workspaceRules,
  apiKeys: listOf(
    when((value) => typeof value === "string", key, optionsOf(keyRules, "a string or { key }", ["key"])),
  ),
  limits: or(false, optionsOf(limitRules, "an object, or false")),
  clock: must(`a clock with the functions ${clockParts.join(", ")}`, (value) => can(value, ...clockParts)),
  latencyMs: must("milliseconds, or [min, max] with 0 <= min <= max", isLatency),
  seed: must("a number", Number.isFinite),
  order: mustBeOneOf("oldest-first", "newest-first"),
  keepRequests: or(Number.POSITIVE_INFINITY, mustBeWhole(0)),
  baseUrl: must("an http or https URL", isHttpUrl),
  workspaces: recordOf(optionsOf(workspaceRules, "an object")),
};

/** The settings of a workspace. A workspace that only a key names has no settings. */
export const settingsOf = (options: SandboxOptions, name: string): WorkspaceOptions =>
  name === defaultWorkspace ? options : (options.workspaces?.[name] ?? {});

/** Finds the faults of options that are valid individually, but contradict each other. */
const clashes = (options: SandboxOptions): string[] => {
  const keys = (options.apiKeys ?? []).map(
    (one): ApiKeyOptions => (typeof one === "string" ? { key: one } : one),
  );
  const faults = keys.flatMap(({ key: own, workspace = defaultWorkspace, mailAccount }, index) => {
    const { mailAccounts = [defaultMailAccount] } = settingsOf(options, workspace);
    if (keys.findIndex((other) => other.key === own) < index) return [`apiKeys[${index}] is a duplicate`];
    return mailAccount === undefined || mailAccounts.some(({ id }) => id === mailAccount)
      ? []
      : [`apiKeys[${index}].mailAccount: the workspace has no mail account "${mailAccount}"`];
  });
  return Object.hasOwn(options.workspaces ?? {}, defaultWorkspace)
    ? [...faults, `workspaces.${defaultWorkspace}: its settings belong at the top level, not in workspaces`]
    : faults;
};

/** Checks the options of a sandbox; null means none. @throws ConfigurationError naming every fault at once. */
export const checkedOptions = (input: SandboxOptions | null): SandboxOptions => {
  const options = input ?? {};
  const faults = ruleFaults(options, sandboxRules);
  refuseSetup("createSandbox", faults.length > 0 ? faults : clashes(options));
  return options;
};

const argumentRules = {
  listen: {
    port: mustBeWhole(0, 65_535),
    host: mustBeText,
    allowedHosts: listOf(mustBeText),
    workbench: mustBeBoolean,
  },
  updateKey: changeableRules,
  updateMailAccount: {
    connected: mustBeBoolean,
    failing: or(null, mustBeText),
    dailyLimit: or(null, mustBeWhole(1)),
  },
  updateWorkspace: { signatures: listOf(mustBeText), tracking: mustBeBoolean },
  // These four are controls of the workbench. The clock itself checks the range of `ms`.
  advance: { ms: anything },
  freeze: { frozen: mustBeBoolean },
  seed: { contacts: mustBeWhole(0, 1_000_000) },
  doNotEmail: { address: mustBeText, isOnList: mustBeBoolean, workspace: mustBeText },
};

/** The fields that an argument must have, if its rules contain them. */
const required = ["contacts", "address"];

/** Checks the argument of a method or a control. @throws ConfigurationError naming every fault at once. */
export const checkArgument = (method: keyof typeof argumentRules, argument: unknown): void =>
  refuseSetup(`sandbox.${method}`, ruleFaults(argument, argumentRules[method], { required }));
