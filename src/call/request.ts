import { ValidationError } from "../errors.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Plan } from "../http/types.ts";
import type { CallOptions, Settings } from "../options/options.ts";
import { callRules } from "../options/validation.ts";
import { version } from "../options/version.ts";
import { refuseFaults, ruleFaults } from "../runtime/rules.ts";
import { isSearchParams } from "../runtime/values.ts";
import type { Operation, OperationFacts } from "../service/define.ts";

/** Follows the waits of long work. */
export interface Waits {
  /** For one request: called with what it waits for, and with undefined when the wait is over. */
  listener(): (waitingFor: string | undefined) => void;
}

/** What one request sends, and how its caller wants it sent. */
export interface CallInput<Input> {
  readonly id?: string;
  /** The path of a raw request, which is sent unchanged. */
  readonly path?: string;
  readonly payload: Input;
  /** The query of a request with a body; for a GET the payload is the query. */
  readonly query?: Readonly<Record<string, unknown>> | URLSearchParams | undefined;
  /** What differs from the plan that the operation and the options make. */
  readonly plan?: Partial<Plan> | undefined;
  /** Whether a success with this response had an effect; default: unless it is a read. */
  readonly hasEffect?: ((body: unknown) => boolean) | undefined;
}

/** A fault of one field, found before anything was sent. */
export const invalid = (operation: string, path: string, message: string): ValidationError =>
  new ValidationError(`${operation}: ${path === "" ? "" : `${path}: `}${message}`, {
    operation,
    issues: [{ path, message }],
  });

const longestId = 1_024;

/** Inserts an id into a path as exactly one segment. */
const pathWithId = (operation: string, path: string, id: unknown): string => {
  const isText = typeof id === "string" && id !== "" && id.length <= longestId;
  if (!isText)
    throw invalid(operation, "id", `must be a non-empty string of at most ${longestId} characters`);
  // These two cannot be encoded: every form of them may be read as "here" or "one up".
  if (id === "." || id === "..") throw invalid(operation, "id", `must not be "${id}"`);
  if (!id.isWellFormed()) throw invalid(operation, "id", "must not hold half a surrogate pair");
  return path.replace(":id", () => encodeURIComponent(id));
};

const queryOf = (payload: unknown): string => {
  const query = new URLSearchParams();
  for (const [name, value] of isSearchParams(payload) ? payload : Object.entries(payload ?? {})) {
    if (value !== undefined && value !== null) query.append(name, String(value));
  }
  // A blank as %20, which every decoder reads; a plus sign in a value is already %2B.
  return query.size === 0 ? "" : `?${query.toString().replaceAll("+", "%20")}`;
};

const bodyOf = (operation: string, payload: unknown): string | undefined => {
  try {
    return JSON.stringify(payload);
  } catch (cause) {
    throw new ValidationError(`${operation}: the input cannot be written as JSON: ${String(cause)}`, {
      operation,
      cause,
    });
  }
};

const json = { accept: "application/json", "user-agent": `touchpoint-sdk/${version}` };
const jsonWithBody = { ...json, "content-type": "application/json" };

type GivenHeaders = NonNullable<CallOptions["headers"]>;

/** Merges headers: names are normalized, so that none is sent twice; `undefined` removes a header. */
const mergeHeaders = (
  below: Readonly<Record<string, string>>,
  given: GivenHeaders,
): Record<string, string> => {
  const headers = { ...below };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = value;
  }
  return headers;
};

/** @throws ValidationError naming every fault of the options of one call. */
export const checkCallOptions = (operation: string, options: CallOptions): void =>
  refuseFaults(operation, ruleFaults(options, callRules));

/** Who asks: the options of the call, and the long work that it is part of. */
interface Asking {
  readonly options: CallOptions | undefined;
  readonly waits: Waits | undefined;
}

/** Creates what turns an operation and its input into a plan and a request. */
export const requestMaker = (settings: Settings) => {
  // The same two objects for every call without extra headers, because the stages cache what they derive from them.
  const withoutBody = mergeHeaders(json, settings.headers);
  const withBody = mergeHeaders(jsonWithBody, settings.headers);
  return {
    planOf<Input>(
      operation: Operation<Input, unknown>,
      { payload, plan }: CallInput<Input>,
      { options, waits }: Asking,
    ): Plan {
      const { replay } = operation;
      const byDefault = waits === undefined ? "interactive" : "background";
      const priority = options?.priority ?? settings.priority ?? plan?.priority ?? byDefault;
      const isDrained = plan?.isDrained ?? false;
      const maxWaitMs = priority === "background" ? undefined : settings.maxWaitMs;
      return {
        replay: plan?.replay ?? (typeof replay === "function" ? replay(payload) : replay),
        weight: operation.weight?.(payload) ?? 1,
        priority,
        maxRetries: options?.maxRetries ?? settings.maxRetries,
        maxWaitMs: isDrained ? undefined : (options?.maxWaitMs ?? maxWaitMs),
        isDrained,
        isDivisible: plan?.isDivisible ?? false,
        dryRun: plan?.dryRun,
        once: plan?.once,
        onWait: plan?.onWait ?? waits?.listener(),
      };
    },
    requestOf(
      operation: OperationFacts,
      input: CallInput<unknown>,
      options: CallOptions | undefined,
    ): HttpRequest {
      const { method = operation.method, path: template = operation.path } =
        settings.routes[operation.id] ?? {};
      const isQuery = method === "GET";
      const path =
        input.path ?? (template.includes("/:id") ? pathWithId(operation.id, template, input.id) : template);
      const query = isQuery ? input.payload : input.query;
      const body = isQuery
        ? undefined
        : bodyOf(operation.id, operation.write?.(input.payload) ?? input.payload);
      const common = body === undefined ? withoutBody : withBody;
      return {
        method,
        path: settings.basePath + path + (query === undefined ? "" : queryOf(query)),
        headers: options?.headers === undefined ? common : mergeHeaders(common, options.headers),
        body,
        attemptTimeoutMs: options?.timeoutMs ?? settings.timeoutMs,
        authorization: undefined,
        admission: undefined,
      };
    },
  };
};
