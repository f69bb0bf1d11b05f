import type { Operation } from "../service/define.ts";
import { Refusal } from "./answer.ts";
import type { MetersFor } from "./limits.ts";
import type { ApiKeyOptions, Role } from "./options.ts";
import type { LimitName, Meter } from "./window.ts";

/** An API key and its state. */
export interface ApiKey {
  readonly key: string;
  /** Undefined: every scope. */
  scopes: ReadonlySet<string> | undefined;
  readonly workspace: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  isRevoked: boolean;
  role: Role;
  mailAccount: string | undefined;
  readonly meters: ReadonlyMap<LimitName, Meter>;
}

/** The part of an operation that the sandbox uses: its route, scope, budgets and weight. */
export type OperationData = Pick<
  Operation<never, unknown>,
  "id" | "method" | "path" | "scope" | "budgets" | "weight" | "isEmail"
>;

/** The workspace of keys that name none. */
export const defaultWorkspace = "default";

const expiryOf = (expiresAt: ApiKeyOptions["expiresAt"]): number =>
  expiresAt === undefined ? Number.POSITIVE_INFINITY : new Date(expiresAt).getTime();

/** Reads the `apiKeys` option. */
export const createKeys = (
  options: readonly (string | ApiKeyOptions)[] = ["sandbox-key"],
  metersFor: MetersFor,
): Map<string, ApiKey> => {
  const keys = new Map<string, ApiKey>();
  for (const option of options) {
    const given = typeof option === "string" ? { key: option } : option;
    keys.set(given.key, {
      key: given.key,
      scopes: given.scopes && new Set<string>(given.scopes),
      workspace: given.workspace ?? defaultWorkspace,
      expiresAt: expiryOf(given.expiresAt),
      isRevoked: given.revoked ?? false,
      role: given.role ?? "admin",
      mailAccount: given.mailAccount,
      meters: metersFor("requests", "requestsPerDay", "emails", "emailsPerDay"),
    });
  }
  return keys;
};

/** Changes a key while the sandbox runs, as its settings page would. */
export const changeKey = (key: ApiKey, change: Partial<Omit<ApiKeyOptions, "key" | "workspace">>): void => {
  if (change.scopes !== undefined) key.scopes = new Set<string>(change.scopes);
  if (change.expiresAt !== undefined) key.expiresAt = expiryOf(change.expiresAt);
  if (change.revoked !== undefined) key.isRevoked = change.revoked;
  if (change.role !== undefined) key.role = change.role;
  if (change.mailAccount !== undefined) key.mailAccount = change.mailAccount;
};

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
  if (key.isRevoked) throw new Refusal(401, "The API key has been revoked.");
  if (key.expiresAt <= now) throw new Refusal(401, "The API key has expired.");
  return key;
};

const refusesBrowsers = ({ budgets, isEmail }: OperationData): boolean =>
  isEmail === true || budgets.includes("events");

/** Why the key may not do this; undefined if it may. Only browsers send `Origin` or `Sec-Fetch-Site`; Node's fetch sends neither. */
export const forbiddenReason = (
  key: ApiKey,
  operation: OperationData,
  headers: Readonly<Record<string, string>>,
): string | undefined => {
  const isBrowser = headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
  if (isBrowser && refusesBrowsers(operation)) return "This operation is not available from a browser.";
  const missing = operation.scope.filter((scope) => !(key.scopes?.has(scope) ?? true));
  if (missing.length > 0) return `The API key lacks the scope ${missing.join(" and ")}.`;
  if (key.role === "viewer" && operation.method !== "GET") {
    return "The role of the key's creator does not allow this.";
  }
  if (key.role === "editor" && operation.budgets.includes("emails"))
    return "The creator of the key can no longer send.";
  return undefined;
};
