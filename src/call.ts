import { type Answer, answer, type ResponseInfo, type WithResponse } from "./answer.ts";
import type { Clock } from "./clock.ts";
import { ResponseValidationError, ValidationError } from "./errors.ts";
import { deadline } from "./http/deadline.ts";
import {
  type CallLog,
  type HttpRequest,
  type HttpResponse,
  type RawHeaders,
  type Send,
  toHeaders,
} from "./http/types.ts";
import type { Operation, OperationFacts, ReplayClass } from "./operations/define.ts";
import { unknownKeys } from "./option-faults.ts";
import { type CallOptions, callFaults, type Settings } from "./options.ts";
import { describeIssues, issuesOf } from "./schemas/check.ts";

/** What one call sends: the payload, and the id in its path where it has one. */
export interface CallInput<Input> {
  readonly id?: string;
  readonly payload: Input;
}

/** Runs one operation: checks the input, sends, checks the answer. Every error names the operation. */
export type Call = <Input, Output>(
  operation: Operation<Input, Output>,
  input: CallInput<Input>,
  options?: CallOptions,
) => Answer<Output>;

const callOptionNames = ["signal", "timeoutMs", "totalTimeoutMs", "maxRetries", "headers"];

const invalid = (operation: string, path: string, message: string): ValidationError =>
  new ValidationError(`${operation}: ${path === "" ? "" : `${path}: `}${message}`, {
    operation,
    issues: [{ path, message }],
  });

type AnsweredOperation = Pick<Operation<unknown, unknown>, "id"> & {
  readonly output: Parameters<typeof issuesOf>[0];
};

/** A class, so that `headers` is made of the raw ones only where somebody looks at them. */
class Received implements ResponseInfo {
  readonly status: number;
  readonly attempts: number;
  readonly waitedMs: number;
  readonly #headers: RawHeaders;

  constructor(response: HttpResponse, log: CallLog) {
    this.status = response.status;
    this.attempts = log.attempts;
    this.waitedMs = log.waitedMs;
    this.#headers = response.headers;
  }

  get headers(): Headers {
    return toHeaders(this.#headers);
  }
}

const longestId = 1_024;

/** Puts an id into a path as exactly one segment. */
const pathWithId = (operation: string, path: string, id: unknown): string => {
  if (!path.includes("/:id")) return path;
  const isText = typeof id === "string" && id !== "" && id.length <= longestId;
  if (!isText)
    throw invalid(operation, "id", `must be a non-empty string of at most ${longestId} characters`);
  // These two cannot be encoded: every form of them may be taken for "here" or "one up".
  if (id === "." || id === "..") throw invalid(operation, "id", `must not be "${id}"`);
  if (!id.isWellFormed()) throw invalid(operation, "id", "must not hold half a surrogate pair");
  return path.replace(":id", () => encodeURIComponent(id));
};

const queryOf = (payload: unknown): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(payload ?? {})) {
    if (value !== undefined && value !== null) query.append(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
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

const json = { accept: "application/json" };
const jsonWithBody = { ...json, "content-type": "application/json" };

type HeadersFor = (hasBody: boolean, own: CallOptions["headers"]) => Readonly<Record<string, string>>;

/** The same two objects for every call that adds no header of its own: the stages keep what they make of them. */
const headersWith = (common: Readonly<Record<string, string>>): HeadersFor => {
  const withoutBody = { ...json, ...common };
  const withBody = { ...jsonWithBody, ...common };
  return (hasBody, own) => {
    const headers = hasBody ? withBody : withoutBody;
    return own === undefined ? headers : { ...headers, ...own };
  };
};

const checkCallOptions = (operation: string, options: CallOptions): void => {
  const faults = [...unknownKeys(options, callOptionNames), ...callFaults(options)];
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal))
    faults.push("signal must be an AbortSignal");
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

const requestFor = (
  operation: OperationFacts,
  input: CallInput<unknown>,
  context: {
    readonly settings: Settings;
    readonly options: CallOptions;
    readonly replay: ReplayClass;
    readonly weight: number;
    readonly headersFor: HeadersFor;
  },
): Omit<HttpRequest, "signal"> => {
  const { settings, options } = context;
  const hasQuery = operation.method === "GET";
  const path = pathWithId(operation.id, settings.routes[operation.id] ?? operation.path, input.id);
  const body = hasQuery ? undefined : bodyOf(operation.id, input.payload);
  return {
    operation: operation.id,
    method: operation.method,
    route: operation.path,
    path: settings.basePath + path + (hasQuery ? queryOf(input.payload) : ""),
    headers: context.headersFor(body !== undefined, options.headers),
    body,
    replay: context.replay,
    absentIsDone: operation.absentIsDone ?? false,
    mayBeEmpty: operation.mayBeEmpty ?? false,
    budgets: operation.budgets,
    weight: context.weight,
    attemptTimeoutMs: options.timeoutMs ?? settings.timeoutMs,
    maxRetries: options.maxRetries ?? settings.maxRetries,
    log: { attempts: 0, waitedMs: 0, isUnclear: false },
  };
};

/** Makes the one function through which every method of every resource goes. */
export const createCall = (send: Send, settings: Settings, clock: Clock): Call => {
  const headersFor = headersWith(settings.headers);
  const checkAnswer = (
    operation: AnsweredOperation,
    made: { readonly request: HttpRequest; readonly status: number },
    body: unknown,
  ): void => {
    if (settings.responseValidation === "off") return;
    const issues = issuesOf(operation.output, body);
    if (issues.length === 0) return;
    if (settings.responseValidation === "strict") {
      const { replay, log } = made.request;
      throw new ResponseValidationError(
        `${operation.id}: the answer does not fit: ${describeIssues(issues)}`,
        {
          operation: operation.id,
          outcome: replay === "safe" ? "not-applied" : "unknown",
          attempts: log.attempts,
          status: made.status,
          issues,
        },
      );
    }
    settings.log.warn("answer does not fit", {
      operation: operation.id,
      fields: issues.map(({ path }) => path),
    });
    settings.hooks.onValidationIssue?.({ operation: operation.id, issues });
  };

  const run = async <Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    options: CallOptions | undefined,
  ): Promise<WithResponse<Output>> => {
    if (options !== undefined) checkCallOptions(operation.id, options);
    const issues = issuesOf(operation.input, input.payload);
    if (issues.length > 0) {
      throw new ValidationError(`${operation.id}: ${describeIssues(issues)}`, {
        operation: operation.id,
        issues,
      });
    }
    const { replay: rule } = operation;
    const replay = typeof rule === "function" ? rule(input.payload) : rule;
    const weight = operation.weight?.(input.payload) ?? 1;
    const fixed = requestFor(operation, input, {
      settings,
      options: options ?? {},
      replay,
      weight,
      headersFor,
    });
    const bound = deadline(options?.signal, options?.totalTimeoutMs ?? settings.totalTimeoutMs, clock);
    try {
      bound.signal?.throwIfAborted();
      const request: HttpRequest = { ...fixed, signal: bound.signal };
      const response = await send(request);
      const body =
        response.isJson && operation.read !== undefined ? operation.read(response.json) : response.json;
      if (body !== undefined || !operation.mayBeEmpty)
        checkAnswer(operation, { request, status: response.status }, body);
      return {
        // Checked above as far as `responseValidation` asks; beyond that it is handed over as it came.
        data: body as Output,
        response: new Received(response, request.log),
      };
    } finally {
      bound.release();
    }
  };

  return (operation, input, options) => answer(run(operation, input, options));
};
