import { ConfigurationError } from "../errors.ts";
import { hasOptions, isPlainObject, writtenCopy } from "../runtime/values.ts";
import { clientRules } from "./client-rules.ts";
import type { Fetch } from "./fetch.ts";
import type { ClientOptions } from "./options.ts";
import type { Environment } from "./proxy.ts";
import { isShared } from "./shared-limits.ts";

/**
 * Takes the place of the global fetch in the options. Looks up the global fetch at each request, so that a user can
 * mock it later.
 */
export const globalFetch: Fetch = (url, init) => globalThis.fetch(url, init);

/** Options that are copied deeply. Other objects are used directly. */
const copiedOptions = ["headers", "hooks", "routes", "limits", "limitScopes", "recipients", "unknownFields"];

const copyOf = (name: string, value: unknown): unknown => {
  // Copy the record of schemas, but not the schemas.
  if (name === "events" && isPlainObject(value)) return { ...value };
  // Don't copy a class instance, which may have private fields, or shared limits, which clients recognize by their
  // object.
  return copiedOptions.includes(name) && isPlainObject(value) && !isShared(value)
    ? writtenCopy(value)
    : value;
};

const optionNames = Object.keys(clientRules);

// For these options, null means the same as undefined.
const nullableOptions = ["apiKey", "baseUrl"];

const isSet = (name: string, value: unknown): boolean =>
  value !== undefined && !(value === null && nullableOptions.includes(name));

const variables = [
  ...["TOUCHPOINT_API_KEY", "TOUCHPOINT_BASE_URL"],
  ...["TOUCHPOINT_RECIPIENTS", "TOUCHPOINT_DRY_RUN", "NODE_USE_ENV_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"],
];

/** Copies the environment variables that the client reads. */
export const environmentOf = (env: Environment): Environment =>
  Object.fromEntries(variables.map((name) => [name, env[name]]));

/**
 * Copies the options, so that later changes of the caller's object or of the environment have no effect.
 *
 * @param before - the options of the original client, or those from the environment, which apply where `input` has no
 * value.
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
    else if (isSet(name, value) || !optionNames.includes(name)) options.set(name, copyOf(name, value));
  }
  return Object.freeze(Object.fromEntries(options));
};

/** Whether a snapshot has the same values as the options before it, apart from a valid `deadline`. */
export const sameOptions = (options: ClientOptions, before: ClientOptions): boolean =>
  Object.entries(options).every(([name, value]) =>
    name === "deadline"
      ? value === undefined || clientRules.deadline(value, name).length === 0
      : Object.hasOwn(before, name) && Reflect.get(before, name) === value,
  );
