import { operations } from "../service/operations.ts";
import {
  amount,
  type Check,
  flag,
  listOf,
  oneOf,
  recordOf,
  refuse,
  shape,
  text,
  time,
  whole,
} from "./checks.ts";
import { isArray, isFields } from "./json.ts";
import { defaultWorkspace } from "./keys.ts";
import type {
  ApiKeyOptions,
  ListenOptions,
  MailAccountChange,
  SandboxOptions,
  WorkspaceChange,
  WorkspaceOptions,
} from "./options.ts";
import { defaultMailAccount } from "./store/mail-account.ts";
import { documentedLimits } from "./window.ts";

const scopes = Object.values(operations)
  .flatMap((group) => Object.values(group).flatMap(({ scope }): readonly string[] => scope))
  .filter((scope, index, all) => all.indexOf(scope) === index);

const changeable = {
  scopes: listOf(oneOf(...scopes)),
  expiresAt: time,
  revoked: flag,
  role: oneOf("admin", "editor", "viewer"),
  mailAccount: text,
};

const key: Check = (value, field) =>
  typeof value === "string" && /^\S+$/.test(value) ? [] : [`${field} must be a string without blanks`];

const apiKey: Check = (value, field) =>
  typeof value === "string"
    ? key(value, field)
    : shape({ key, workspace: text, ...changeable }, "key")(value, field);

const automation = shape(
  {
    name: text,
    startsOn: text,
    waitsFor: text,
    exitsOn: text,
    goalOn: text,
    correlateBy: text,
    transactional: flag,
  },
  "name",
  "startsOn",
);

const workspaceChecks = {
  customFields: recordOf(oneOf("text", "number", "boolean", "date")),
  signatures: listOf(text),
  mailAccounts: listOf(
    shape({ id: text, from: text, connected: flag, failing: text, dailyLimit: whole(1) }, "id"),
  ),
  doNotEmail: listOf(text),
  tracking: flag,
  automations: listOf(automation),
};

const above0: Check = (value, field) =>
  typeof value === "number" && value > 0 ? [] : [`${field} must be a number above 0`];

const limit: Check = (value, field) => {
  if (value === false) return [];
  if (isFields(value)) return shape({ max: above0, windowMs: above0 }, "max", "windowMs")(value, field);
  const faults = above0(value, field);
  return faults.map((fault) => `${fault}, { max, windowMs }, or false for no limit`);
};

const limits: Check = (value, field) =>
  value === false
    ? []
    : shape({
        kind: oneOf("sliding", "fixed", "bucket"),
        ...Object.fromEntries(
          [...Object.keys(documentedLimits), "mailAccountPerDay"].map((name) => [name, limit]),
        ),
      })(value, field);

const least0 = amount(0);
const latency: Check = (value, field) => {
  if (typeof value === "number") return least0(value, field);
  const [min, max, ...others] = isArray(value) ? value : isFields(value) ? [value.min, value.max] : [];
  const faults = isFields(value)
    ? shape({ min: least0, max: least0, counted: oneOf("before", "after") }, "min", "max")(value, field)
    : [];
  const isRange = least0(min, "").length + least0(max, "").length + others.length === 0;
  if (faults.length === 0 && !(isRange && Number(min) <= Number(max)))
    return [`${field} must be milliseconds, or [min, max] with 0 <= min <= max`];
  return faults;
};

const clock: Check = (value, field) => {
  const parts = ["now", "wallTime", "after", "sleep"];
  return isFields(value) && parts.every((name) => typeof value[name] === "function")
    ? []
    : [`${field} must have the functions ${parts.join(", ")}`];
};

const httpUrl: Check = (value, field) =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
    ? []
    : [`${field} must be an http or https URL`];

const atMostAll: Check = (value, field) => (value === Number.POSITIVE_INFINITY ? [] : whole(0)(value, field));

const sandboxShape = shape({
  ...workspaceChecks,
  apiKeys: listOf(apiKey),
  limits,
  clock,
  latencyMs: latency,
  seed: (value, field) => (Number.isFinite(value) ? [] : [`${field} must be a number`]),
  order: oneOf("oldest-first", "newest-first"),
  search: oneOf("address", "substring"),
  batchOverflow: oneOf("refuse", "per-item"),
  scheduledResponse: oneOf("nested", "flat"),
  keepRequests: atMostAll,
  baseUrl: httpUrl,
  workspaces: recordOf(shape(workspaceChecks)),
});

/** The settings of a workspace; a workspace that only a key names has none. */
export const settingsOf = (options: SandboxOptions, name: string): WorkspaceOptions =>
  name === defaultWorkspace ? options : (options.workspaces?.[name] ?? {});

/** The faults of options that are valid alone, but contradict each other. */
const clashes = (options: SandboxOptions): string[] => {
  const given = (options.apiKeys ?? []).map((one) => (typeof one === "string" ? { key: one } : one));
  const faults = given.flatMap(
    ({ key: own, workspace = defaultWorkspace, mailAccount }: ApiKeyOptions, index) => {
      const { mailAccounts = [defaultMailAccount] } = settingsOf(options, workspace);
      const hasAccount = mailAccount === undefined || mailAccounts.some(({ id }) => id === mailAccount);
      return [
        ...(given.findIndex((other) => other.key === own) < index
          ? [`apiKeys[${index}] is a duplicate`]
          : []),
        ...(hasAccount
          ? []
          : [`apiKeys[${index}].mailAccount: the workspace has no mail account "${mailAccount}"`]),
      ];
    },
  );
  return options.workspaces !== undefined && Object.hasOwn(options.workspaces, defaultWorkspace)
    ? [...faults, `workspaces.${defaultWorkspace}: its settings belong at the top level, not in workspaces`]
    : faults;
};

/** Checks the options of a sandbox; null means none. @throws ConfigurationError naming every fault at once. */
export const checkedOptions = (given: SandboxOptions | null): SandboxOptions => {
  const options = given ?? {};
  const faults = sandboxShape(options, "");
  refuse("createSandbox", faults.length > 0 ? faults : clashes(options));
  return options;
};

/** @throws ConfigurationError */
export const checkKeyChange = (change: Partial<ApiKeyOptions>): void =>
  refuse("sandbox.updateKey", shape(changeable)(change, ""));

/** @throws ConfigurationError */
export const checkAccountChange = (change: MailAccountChange): void => {
  const orNull =
    (check: Check): Check =>
    (value, field) =>
      value === null ? [] : check(value, field);
  const checks = { connected: flag, failing: orNull(text), dailyLimit: orNull(whole(1)) };
  refuse("sandbox.updateMailAccount", shape(checks)(change, ""));
};

/** @throws ConfigurationError */
export const checkWorkspaceChange = (change: WorkspaceChange): void =>
  refuse("sandbox.updateWorkspace", shape({ signatures: listOf(text), tracking: flag })(change, ""));

const listenShape = shape({
  port: whole(0, 65_535),
  host: text,
  allowedHosts: listOf(text),
  workbench: flag,
  keepAliveMs: least0,
});

/** Checks the options of `listen`; null means none. @throws ConfigurationError */
export const checkedPlace = (given: ListenOptions | null | undefined): ListenOptions => {
  const place = given ?? {};
  refuse("sandbox.listen", listenShape(place, ""));
  return place;
};
