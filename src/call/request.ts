import { ValidationError } from "../errors.ts";
import type { HttpRequest, RequestStats, WaitAllowance } from "../http/types.ts";
import type { CallOptions, Settings } from "../options/options.ts";
import type { Priority } from "../options/priority.ts";
import { callFaults } from "../options/validation.ts";
import { version } from "../options/version.ts";
import { isAbortSignal, isSearchParams, unknownKeys } from "../runtime/values.ts";
import type { OperationFacts, ReplayClass } from "../service/define.ts";

/** What the requests of one call share, if it has several. */
export interface CallGroup {
  /** Aborts all of them: the caller's own signal, and the total time. */
  readonly signal: AbortSignal | undefined;
  /** Whether an earlier request failed but may have taken effect. */
  isUnclear: boolean;
  /** The end of its total time, on the client's clock. */
  readonly deadlineAt?: number | undefined;
  /** How long its requests may still wait for limits and slots, after the first was made. */
  waits?: WaitAllowance | undefined;
}

/** What one call sends: the payload, and the id in its path if there is one. */
export interface CallInput<Input> {
  readonly id?: string;
  /** The path of a raw request, which is sent unchanged. */
  readonly path?: string;
  readonly payload: Input;
  /** The query of a request with a body; for a GET the payload is the query. */
  readonly query?: Readonly<Record<string, unknown>> | URLSearchParams | undefined;
  /** The call that this request belongs to, if that has several. */
  readonly whole?: CallGroup | undefined;
  /** Whether an earlier request for the same records may have taken effect, if there is no `whole` to say so. */
  readonly wasUnclear?: boolean | undefined;
  /** Aborts the work that this request is part of. */
  readonly partOf?: AbortSignal | undefined;
  /** The priority of the calling method, unless the call or the client sets one; default `interactive`. */
  readonly priority?: Priority | undefined;
  /** Allowed while the client closes, however long it takes: the client's limits on waits and time do not apply. */
  readonly isDrained?: boolean | undefined;
  /** Whether the caller can split the request if the limits ask for it. */
  readonly isDivisible?: boolean | undefined;
  /** Called with what the request waits for, and with undefined when it continues. */
  readonly onWait?: ((waitingFor: string | undefined) => void) | undefined;
  /** Counts what the call costs, and whether it may have taken effect if an abort does not say. */
  readonly stats?: RequestStats;
  /** For an email: whether the call itself asks not to send it. */
  readonly dryRun?: boolean | undefined;
}

const callOptionNames = [
  "signal",
  "timeoutMs",
  "totalTimeoutMs",
  "maxWaitMs",
  "maxRetries",
  "priority",
  "headers",
];

/** A fault of one field, found before anything was sent. */
export const invalid = (operation: string, path: string, message: string): ValidationError =>
  new ValidationError(`${operation}: ${path === "" ? "" : `${path}: `}${message}`, {
    operation,
    issues: [{ path, message }],
  });

const longestId = 1_024;

/** Inserts an id into a path as exactly one segment. */
const pathWithId = (operation: string, path: string, id: unknown): string => {
  if (!path.includes("/:id")) return path;
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

type HeadersFor = (hasBody: boolean, own: CallOptions["headers"]) => Readonly<Record<string, string>>;

/** The same two objects for every call without extra headers, because the stages cache what they derive from them. */
const headersWith = (common: GivenHeaders): HeadersFor => {
  const withoutBody = mergeHeaders(json, common);
  const withBody = mergeHeaders(jsonWithBody, common);
  return function headersFor(hasBody, own) {
    const headers = hasBody ? withBody : withoutBody;
    return own === undefined ? headers : mergeHeaders(headers, own);
  };
};

/** @throws ValidationError naming every fault of the options of one call. */
export const checkCallOptions = (operation: string, options: CallOptions): void => {
  const faults = [...unknownKeys(options, callOptionNames), ...callFaults(options)];
  if (options.signal !== undefined && !isAbortSignal(options.signal))
    faults.push("signal must be an AbortSignal");
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

/** The operation's rules for this input. */
interface Rules {
  readonly replay: ReplayClass;
  readonly weight: number;
}

/** A request without its signal and deadline: those start after the input was found to be valid. */
interface UnboundRequest extends Omit<HttpRequest, "signal" | "deadlineAt"> {
  signal: AbortSignal | undefined;
  deadlineAt: number | undefined;
}

export type BuildRequest = (
  operation: OperationFacts,
  input: CallInput<unknown>,
  made: { readonly options: CallOptions | undefined; readonly rules: Rules },
) => UnboundRequest;

/** Creates the function that turns an operation and its input into a request. */
export const requestBuilder = (settings: Settings): BuildRequest => {
  const headersFor = headersWith(settings.headers);
  const waitsOf = (
    priority: Priority,
    maxWaitMs: number | undefined,
    whole: CallGroup | undefined,
  ): WaitAllowance | undefined => {
    const leftMs = maxWaitMs ?? (priority === "background" ? undefined : settings.maxWaitMs);
    if (leftMs === undefined) return undefined;
    const waits = whole?.waits ?? { leftMs };
    if (whole !== undefined) whole.waits = waits;
    return waits;
  };
  return function buildRequest(operation, input, { options = {}, rules }) {
    const priority = options.priority ?? settings.priority ?? input.priority ?? "interactive";
    const isQuery = operation.method === "GET";
    const template = settings.routes[operation.id] ?? operation.path;
    const path = input.path ?? pathWithId(operation.id, template, input.id);
    const body = isQuery
      ? undefined
      : bodyOf(operation.id, operation.write?.(input.payload) ?? input.payload);
    return {
      operation: operation.id,
      method: operation.method,
      route: operation.path,
      path: settings.basePath + path + queryOf(isQuery ? input.payload : input.query),
      headers: headersFor(body !== undefined, options.headers),
      body,
      replay: rules.replay,
      notFoundMeansDone: operation.notFoundMeansDone ?? false,
      mayBeEmpty: operation.mayBeEmpty ?? false,
      budgets: operation.budgets,
      weight: rules.weight,
      priority,
      // Declared here: copying the object with two more fields would take three times the memory.
      signal: undefined,
      deadlineAt: undefined,
      isDrained: input.isDrained,
      isDivisible: input.isDivisible,
      waits: input.isDrained ? undefined : waitsOf(priority, options.maxWaitMs, input.whole),
      attemptTimeoutMs: options.timeoutMs ?? settings.timeoutMs,
      maxRetries: options.maxRetries ?? settings.maxRetries,
      attempt: 1,
      mayHaveTakenEffect: input.whole?.isUnclear === true || input.wasUnclear === true,
      onWait: input.onWait,
      dryRun: input.dryRun,
      stats: input.stats ?? { attempts: 0, waitedMs: 0, mayHaveTakenEffect: false },
    };
  };
};
