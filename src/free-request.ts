import { ValidationError } from "./errors.ts";
import type { Method, Operation, ReplayClass } from "./operations/define.ts";
import { operations } from "./operations/index.ts";
import { Anything } from "./schemas/common.ts";

/** A request to an endpoint that has no method of its own. */
export interface FreeRequest {
  readonly method: Method;
  /** From the base URL on, starting with one `/`; without query, and with every id encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /**
   * What a repeat would do. Default: `safe` for GET, and `never` for anything else, so that a request whose answer
   * is lost is not sent again.
   */
  readonly replay?: ReplayClass | undefined;
}

const methods: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const replayClasses: readonly string[] = ["safe", "idempotent", "keyed", "never"];

// Dots may come encoded too; a service that decodes before it routes would step out of the path.
const dotSegment = /(^|\/)(\.|%2e){1,2}(\/|$)/i;

const faultsOf = (request: FreeRequest): string[] => {
  if (typeof request !== "object" || request === null) return ["give { method, path }"];
  const { method, path, replay, body } = request;
  const faults: string[] = [];
  if (!methods.includes(method)) faults.push(`method must be one of ${methods.join(", ")}`);
  if (typeof path !== "string" || !path.startsWith("/") || path.startsWith("//")) {
    faults.push("path must start with one /: only the configured service is ever called");
  } else if (/[?#\s\\]|\p{Cc}/u.test(path)) {
    faults.push("path must hold no query, fragment, blank or backslash: give `query`, and encode ids");
  } else if (dotSegment.test(path)) {
    faults.push("path must hold no . or .. segment");
  }
  if (replay !== undefined && !replayClasses.includes(replay)) {
    faults.push(`replay must be one of ${replayClasses.join(", ")}`);
  }
  if (method === "GET" && body !== undefined) faults.push("a GET carries no body: give `query`");
  return faults;
};

const known: readonly Pick<Operation<never, unknown>, "method" | "path" | "budgets">[] = Object.values(
  operations,
).flatMap((resource) => Object.values(resource));

/**
 * Describes a free request as an operation, so that it goes through the same stages.
 *
 * @throws ValidationError naming every fault; nothing was sent.
 */
export const freeOperation = (request: FreeRequest): Operation<unknown, unknown> => {
  const faults = faultsOf(request);
  if (faults.length > 0) throw new ValidationError(`request: ${faults.join("; ")}`, { operation: "request" });
  const { method, path, replay = method === "GET" ? "safe" : "never" } = request;
  // A documented endpoint spends its budgets, however it is called.
  const same = known.find((operation) => operation.method === method && operation.path === path);
  return {
    id: "request",
    method,
    path,
    scope: [],
    replay,
    budgets: same?.budgets ?? ["requests"],
    evidence: "documented",
    input: Anything,
    output: Anything,
    mayBeEmpty: true,
  };
};
