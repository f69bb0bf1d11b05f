import type { OperationFacts } from "../service/define.ts";
import { Refusal } from "./answer.ts";
import type { Meters, MetersFor } from "./limits.ts";
import type { ApiKeyOptions } from "./options.ts";

/** An API key with its current settings. */
export interface ApiKey {
  settings: Omit<ApiKeyOptions, "key" | "workspace">;
  readonly workspace: string;
  readonly requests: Meters;
  readonly emails: Meters;
}

/** The workspace of keys without a workspace name. */
export const defaultWorkspace = "default";

export const createKeys = (
  options: readonly (string | ApiKeyOptions)[] = ["sandbox-key"],
  metersFor: MetersFor,
): Map<string, ApiKey> =>
  new Map(
    options.map((option, index) => {
      const options: ApiKeyOptions = typeof option === "string" ? { key: option } : option;
      const { key, workspace = defaultWorkspace, ...settings } = options;
      // Use a number, so that the page never shows a key.
      const owner = `key ${index + 1}`;
      const [requests, emails] = [metersFor(owner, "requests"), metersFor(owner, "emails")];
      return [key, { settings, workspace, requests, emails }];
    }),
  );

/** The key in an `Authorization` header, if it has one. */
export const tokenIn = (authorization: string | undefined): string | undefined =>
  /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];

/** Finds the key of a request. @throws Refusal 401 when it is missing, unknown, revoked or expired. */
export const authenticate = (
  authorization: string | undefined,
  keys: ReadonlyMap<string, ApiKey>,
  now: number,
): ApiKey => {
  const token = tokenIn(authorization);
  if (token === undefined) throw new Refusal(401, "The API key is missing.");
  const key = keys.get(token);
  if (key === undefined) throw new Refusal(401, "The API key is not valid.");
  const { revoked, expiresAt } = key.settings;
  if (revoked) throw new Refusal(401, "The API key has been revoked.");
  if (expiresAt !== undefined && new Date(expiresAt).getTime() <= now)
    throw new Refusal(401, "The API key has expired.");
  return key;
};

/**
 * The reason why a request with this key may not run the operation; undefined if it may. Only browsers send `Origin` or
 * `Sec-Fetch-Site`; Node's fetch sends neither.
 */
export const forbiddenReason = (
  { settings: { scopes, role } }: ApiKey,
  operation: OperationFacts,
  headers: Readonly<Record<string, string>>,
): string | undefined => {
  const isBrowser = headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
  const { budgets, isEmail = false } = operation;
  if (isBrowser && (isEmail || budgets.includes("events")))
    return "This operation is not available from a browser.";
  const missing = operation.scope.filter((scope) => !(scopes?.includes(scope) ?? true));
  if (missing.length > 0) return `The API key lacks the scope ${missing.join(" and ")}.`;
  if (role === "viewer" && operation.method !== "GET")
    return "The role of the key's creator does not allow this.";
  if (role === "editor" && budgets.includes("emails")) return "The creator of the key can no longer send.";
  return undefined;
};
