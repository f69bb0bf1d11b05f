import { ConfigurationError } from "../errors.ts";
import { hasOptions, isPlainObject, writtenCopy } from "../runtime/values.ts";
import { clientRules } from "./client-rules.ts";
import type { Fetch } from "./fetch.ts";
import type { ClientOptions } from "./options.ts";
import type { Environment } from "./proxy.ts";
import { isShared } from "./shared-limits.ts";

/**
 * Replaces a given global fetch: it looks up the global fetch at each call, so that you can mock it later.
 */
export const globalFetch: Fetch = (url, init) => globalThis.fetch(url, init);

/** Options that are copied with all that they hold. Other objects are used as they are. */
const copied = ["headers", "hooks", "routes", "limits", "limitScopes", "recipients", "unknownFields"];

const copyOf = (name: string, value: unknown): unknown => {
  // The schemas themselves are not copied, nor are shared limits, which are identified by their object.
  if (name === "events" && isPlainObject(value)) return { ...value };
  // An instance of a class may have private fields.
  return copied.includes(name) && isPlainObject(value) && !isShared(value) ? writtenCopy(value) : value;
};

const optionNames = Object.keys(clientRules);

const fromElsewhere = ["apiKey", "baseUrl"];

const isGiven = (name: string, value: unknown): boolean =>
  value !== undefined && !(value === null && fromElsewhere.includes(name));

const variables = [
  ...["TOUCHPOINT_API_KEY", "TOUCHPOINT_BASE_URL"],
  ...["TOUCHPOINT_RECIPIENTS", "TOUCHPOINT_DRY_RUN", "NODE_USE_ENV_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"],
];

/** A copy of what counts of the environment. */
export const environmentOf = (env: Environment): Environment =>
  Object.fromEntries(variables.map((name) => [name, env[name]]));

/**
 * A copy of the options: later changes of the caller's object or of the environment have no effect.
 *
 * @param before - the values of options that are not given, or undefined.
 * @throws ConfigurationError when the options are not an object.
 */
export const snapshot = (input: ClientOptions, before: ClientOptions): ClientOptions => {
  if (!hasOptions(input))
    throw new ConfigurationError("options must be an object: new Client({ apiKey, baseUrl })");
  const options = new Map<string, unknown>(Object.entries(before));
  // Includes unknown names, to be reported, and properties that an instance inherits from its class.
  for (const name of [...Object.keys(input), ...optionNames]) {
    const value: unknown = Reflect.get(input, name);
    const isGlobalFetch = name === "fetch" && value !== undefined && value === globalThis.fetch;
    if (isGlobalFetch) options.set(name, globalFetch);
    else if (isGiven(name, value) || !optionNames.includes(name)) options.set(name, copyOf(name, value));
  }
  return Object.freeze(Object.fromEntries(options));
};

/** Whether a snapshot has the values of the options before it, except for a valid `deadline`. */
export const sameOptions = (options: ClientOptions, before: ClientOptions): boolean =>
  Object.entries(options).every(([name, value]) =>
    name === "deadline"
      ? value === undefined || clientRules.deadline(value, name).length === 0
      : Object.hasOwn(before, name) && Reflect.get(before, name) === value,
  );
