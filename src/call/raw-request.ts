import type { Route } from "../options/validation.ts";
import { mustBeOneOf, type Rule, type Rules, refuseFaults, ruleFaults } from "../runtime/rules.ts";
import { isBytes, isPlainObject, isSearchParams } from "../runtime/values.ts";
import { Anything } from "../service/common.ts";
import { comparablePath, isWithin } from "../service/comparable-path.ts";
import type { Method, Operation, OperationFacts, ReplayClass } from "../service/define.ts";
import { jsonFault } from "../service/json.ts";
import { allOperations } from "../service/operations.ts";

/** A request to an endpoint for which the client has no method. */
export interface RawRequest {
  /** The HTTP method in upper case. */
  readonly method: Method;
  /** The path below the base URL. It must start with one `/`, have no query, and have every id encoded. */
  readonly path: string;
  /**
   * The query parameters, which the client encodes. It leaves out undefined values. For repeated names, use
   * `URLSearchParams`.
   */
  readonly query?:
    | Readonly<Record<string, string | number | boolean | undefined>>
    | URLSearchParams
    | undefined;
  /** The body, which is sent as JSON; not for GET. Values that JSON would lose are refused, such as bytes and forms. */
  readonly body?: unknown;
  /**
   * The effect of a repeated request. `safe`: it changes nothing. `idempotent`: it sets the same values again. `keyed`:
   * the service recognizes it by an id in the request. `never`: it could take effect twice. Default: `safe` for GET,
   * and `never` for other methods, so that the client doesn't repeat a request whose response was lost.
   */
  readonly replay?: ReplayClass | undefined;
}

// Also match encoded dots: a service that decodes the path before it routes the request would move to another path.
const dotSegment = /(^|\/)(\.|%2e){1,2}(\/|$)/i;

const pathFaults: Rule = (path) => {
  if (typeof path !== "string" || !/^\/(?!\/)/.test(path))
    return ["path must start with exactly one /, because the client calls only the configured service"];
  if (/[?#\\]|[^\x21-\x7e]/.test(path))
    return [
      "path must be visible ASCII without a query, fragment or backslash. Pass parameters as `query`, and encode ids",
    ];
  return dotSegment.test(path) ? ["path must not contain a . or .. segment"] : [];
};

const queryFaults: Rule = (query) => {
  if (query === null || isSearchParams(query)) return [];
  if (!isPlainObject(query)) return ["query must be a plain object or URLSearchParams"];
  const unfit = Object.entries(query).filter(([, value]) => value !== null && !isQueryValue(value));
  return unfit.map(([name]) => `query.${name} must be a string, a number or a boolean`);
};

const isQueryValue = (value: unknown): boolean =>
  ["string", "number", "boolean", "bigint", "undefined"].includes(typeof value);

const bodyFaults: Rule = (body) => {
  // A Buffer's toJSON is an object of numbers, which no service expects.
  const fault = isBytes(body)
    ? { path: [], message: "must not be bytes, because the client sends JSON" }
    : jsonFault(body);
  return fault === undefined
    ? []
    : [`body${fault.path.map((key) => `[${JSON.stringify(key)}]`).join("")} ${fault.message}`];
};

const requestRules: Rules = {
  method: mustBeOneOf("GET", "POST", "PUT", "PATCH", "DELETE"),
  path: pathFaults,
  replay: mustBeOneOf("safe", "idempotent", "keyed", "never"),
  query: queryFaults,
  body: bodyFaults,
};

const faultsOf = (request: RawRequest): string[] => {
  if (typeof request !== "object" || request === null) return ["give { method, path }"];
  const faults = ruleFaults(request, requestRules, { required: ["method", "path"] });
  if (request.method === "GET" && request.body !== undefined)
    faults.push("a GET has no body: pass parameters as `query`");
  return faults;
};

/**
 * The operations that spend other limits besides requests. Longer paths come first, because a shorter path may occur in
 * a longer one.
 */
const limitedOperations = allOperations
  .filter(({ budgets }) => budgets.length > 1)
  // Node 18, which is told that it is too old, has no toSorted.
  .sort((one, other) => other.path.length - one.path.length);

/** The path of the base URL, and the changed routes of operations. */
interface PathSettings {
  readonly basePath: string;
  readonly routes: Readonly<Record<string, Route>>;
}

/** The documented path of an operation and the one in `routes`, as far as its `:id`. */
const pathsOf = ({ id, path }: OperationFacts, { routes }: PathSettings): string[] =>
  [path, routes[id]?.path ?? path].map((own) => comparablePath(own.replace(/\/:id$/, "")));

/** The path of a request from the root of the origin, in the form that is compared. */
const fullPathOf = ({ path }: RawRequest, { basePath }: PathSettings): string =>
  comparablePath(basePath + path);

/** Finds the operation whose limits a request spends. */
const limitedOperationOf = (request: RawRequest, settings: PathSettings) => {
  const fullPath = fullPathOf(request, settings);
  return limitedOperations.find((operation) => {
    const methods = [operation.method, settings.routes[operation.id]?.method];
    return (
      methods.includes(request.method) &&
      pathsOf(operation, settings).some((path) => isWithin(fullPath, path))
    );
  });
};

/** Whether a request may be about an email, so that the guards apply. Some of these requests are about something else. */
const mayBeEmail = (request: RawRequest, settings: PathSettings): boolean => {
  const fullPath = fullPathOf(request, settings);
  return (
    allOperations
      .filter(({ isEmail }) => isEmail)
      .flatMap((operation) => pathsOf(operation, settings))
      // Also compare with the path without its prefix, because a gateway may add the prefix.
      .flatMap((path) => [path, path.replace("/api/v1/", "/")])
      .some((path) => isWithin(fullPath, path))
  );
};

/** The number of events in the body; 1 if the operation has no weight or the body has no array of events. */
const weightOf = (operation: Operation<never, unknown> | undefined, body: unknown): number => {
  const { events }: { events?: unknown } = Object(body);
  if (operation?.weight === undefined || !Array.isArray(events)) return 1;
  // Only a batch has a weight: the number of its events. The service checks their content.
  return Math.max(1, operation.weight({ events } as never));
};

/**
 * Describes a raw request as an operation, so that it passes through the same stages. Hooks get `request` as its path,
 * because the real path may contain an id.
 *
 * @throws ValidationError naming every fault; nothing was sent.
 */
export const rawOperation = (
  request: RawRequest,
  pathSettings: PathSettings,
): Operation<unknown, unknown> => {
  refuseFaults("request", faultsOf(request));
  const { method, body, replay = method === "GET" ? "safe" : "never" } = request;
  const limited = limitedOperationOf(request, pathSettings);
  return {
    id: "request",
    method,
    path: "request",
    scope: [],
    replay,
    budgets: limited?.budgets ?? ["requests"],
    isEmail: limited?.isEmail === true,
    mayBeEmail: mayBeEmail(request, pathSettings),
    // A request with `sendAt` schedules an email, and `emails.schedule` does not have `stopsAlone`.
    stopsAlone: limited?.stopsAlone === true && Object(body).sendAt === undefined,
    weight: () => weightOf(limited, body),
    input: Anything,
    output: Anything,
    mayBeEmpty: true,
  };
};
