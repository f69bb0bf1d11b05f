import { type Issue, isTouchpointError, ResponseValidationError, ValidationError } from "../errors.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { isCallWatched, traceCall } from "../http/tracing.ts";
import type { Plan } from "../http/types.ts";
import type { CallOptions } from "../options/options.ts";
import { version } from "../options/version.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import { unsafeIssue } from "../runtime/unsafe-numbers.ts";
import { isSearchParams, messageOf } from "../runtime/values.ts";
import { describeIssues, issuesOf, readFields } from "../service/check.ts";
import type { Operation } from "../service/define.ts";
import { Answer, type WithResponse } from "./api-promise.ts";
import { type CallInput, checkCallOptions, invalid, type Waits } from "./request.ts";
import { type Asked, type CallContext, CallScope, type Perform } from "./scope.ts";

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

/**
 * The input of an operation as it is checked and sent.
 *
 * @throws ValidationError naming every fault.
 */
export const readPayload = <Input>(operation: Operation<Input, unknown>, input: Input): Input => {
  let payload: Input;
  try {
    payload = readFields(operation.input, input);
  } catch (cause) {
    // An accessor, or a Proxy.
    throw new ValidationError(`${operation.id}: the input cannot be read: ${messageOf(cause)}`, {
      operation: operation.id,
      cause,
    });
  }
  const issues = issuesOf(operation.input, payload);
  if (issues.length > 0) throwIfInvalid(operation.id, issues);
  return payload;
};

interface Begun<Input> {
  readonly scope: CallScope;
  readonly request: HttpRequest;
  readonly input: CallInput<Input>;
}

type Checked<Input> = Omit<Asked<Input, unknown>, "scope">;

/** Runs the operations of a client. */
class Executor {
  readonly #context: Omit<CallContext, "perform">;
  // The same two objects for every call without extra headers, because the stages cache what they derive from them.
  readonly #withoutBody: Readonly<Record<string, string>>;
  readonly #withBody: Readonly<Record<string, string>>;

  constructor(context: Omit<CallContext, "perform">) {
    this.#context = context;
    const { headers } = context.settings;
    this.#withoutBody = mergeHeaders(json, headers);
    this.#withBody = mergeHeaders(jsonWithBody, headers);
  }

  readonly perform: Perform = (parent, asked) =>
    parent.isWhole || !isCallWatched()
      ? this.#run(parent, asked)
      : traceCall(
          asked.operation.id,
          () => this.#run(parent, asked),
          ({ response }) => response,
        );

  async #run<Input, Output>(parent: CallScope, asked: Asked<Input, Output>): Promise<WithResponse<Output>> {
    const { operation } = asked;
    const { scope, request, input } = this.#begin(parent, asked);
    const { workspace } = this.#context.settings;
    try {
      scope.signal?.throwIfAborted();
      // The body is already written: what is checked here is what is sent.
      if (workspace !== undefined) {
        const found = workspace.inputIssues(operation, input.payload);
        throwIfInvalid(operation.id, await untilAborted(found, scope.signal));
      }
      const response = await this.#context.send(scope, request);
      // The service responded with success, so the operation has probably taken effect.
      if (scope.plan.replay !== "safe") scope.mayHaveTakenEffect = true;
      const body = recordOf(scope, operation, { input, response });
      if (this.#context.settings.responseValidation !== "off" && body !== undefined) {
        const found = issuesOf(operation.output, body);
        const typed =
          workspace && (await untilAborted(workspace.answerIssues(operation, body), scope.signal));
        const { unsafe } = response;
        const lost = unsafe ? [unsafeIssue(unsafe)] : [];
        const all = typed || unsafe ? [...found, ...lost, ...(typed ?? [])] : found;
        if (all.length > 0) this.#reportAnswer(scope, all, response.status);
      }
      if (scope.mayHaveTakenEffect && (scope.attempts > 1 || input.hasEffect?.(body) !== false))
        scope.noteEffect();
      // Already checked as `responseValidation` asks; beyond that, the response is returned as it is.
      return new Answer(body as Output, scope);
    } catch (error) {
      // What the caller knows of this request's effect it cannot tell any more.
      if (scope.mayHaveTakenEffect) scope.noteEffect();
      const ended = scope.fail(error);
      // An error that is created here has the caller in its stack already; close() creates one for each call that waits.
      throw ended === error ? withCaller(error) : ended;
    } finally {
      scope.release?.();
    }
  }

  // Separate from `run`: while a call waits, its frame keeps everything that it has created.
  #begin<Input, Output>(parent: CallScope, asked: Asked<Input, Output>): Begun<Input> {
    const { operation, options } = asked;
    if (options) checkCallOptions(operation.id, options);
    const input = { ...asked.input, payload: readPayload(operation, asked.input.payload) };
    const checked = { operation, input, options };
    const plan = this.#planOf(checked, parent.longWaits);
    const request = this.#requestOf(checked);
    // Its time starts after the input was found to be valid.
    asked.scope = parent.forRequest(asked, plan);
    return { scope: asked.scope, request, input };
  }

  #planOf<Input>({ operation, input, options }: Checked<Input>, waits: Waits | undefined): Plan {
    const { settings } = this.#context;
    const { payload, plan } = input;
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
  }

  #requestOf<Input>({ operation, input, options }: Checked<Input>): HttpRequest {
    const { settings } = this.#context;
    const { id } = operation;
    const { method = operation.method, path: template = operation.path } = settings.routes[id] ?? {};
    const isQuery = method === "GET";
    const path = input.path ?? (template.includes("/:id") ? pathWithId(id, template, input.id) : template);
    const query = isQuery ? input.payload : input.query;
    const body = isQuery ? undefined : bodyOf(id, operation.write?.(input.payload) ?? input.payload);
    const common = body === undefined ? this.#withoutBody : this.#withBody;
    return {
      method,
      path: settings.basePath + path + (query === undefined ? "" : queryOf(query)),
      headers: options?.headers === undefined ? common : mergeHeaders(common, options.headers),
      body,
      attemptTimeoutMs: options?.timeoutMs ?? settings.timeoutMs,
      authorization: undefined,
      admission: undefined,
    };
  }

  #reportAnswer(scope: CallScope, found: readonly Issue[], status: number): void {
    const { redactor, settings } = this.#context;
    // Issues may quote the response: a name in their path, or a sentence of the workspace's schema.
    const issues = found.map(({ path, message }) => ({
      path: redactor.text(path),
      message: redactor.text(message),
    }));
    if (settings.responseValidation === "strict") {
      const what = `the response does not fit: ${describeIssues(issues)}`;
      throw scope.error(ResponseValidationError, what, { status, issues });
    }
    scope.report(scope.operation.id, issues);
  }
}

/** Creates the scope of a client, through which every method of every resource goes. */
export const clientScope = (context: Omit<CallContext, "perform">): CallScope =>
  CallScope.of({ ...context, perform: new Executor(context).perform });

/** @throws ValidationError naming every issue, if there is one. */
export const throwIfInvalid = (operation: string, issues: readonly Issue[]): void => {
  if (issues.length > 0)
    throw new ValidationError(`${operation}: ${describeIssues(issues)}`, { operation, issues });
};

/**
 * Appends the stack of the caller to an error. The engine can follow a call back only through `await`, but the stages
 * return promises directly, because an async function's frame would be half of a waiting call's memory.
 */
const withCaller = (error: unknown): unknown => {
  if (!isTouchpointError(error)) return error;
  const placeOf = (frame: string): string => frame.replace(/:\d+:\d+\)?$/, "");
  const known = new Set(error.stack?.split("\n").map(placeOf));
  const [, , ...frames] = new Error().stack?.split("\n") ?? [];
  error.stack = [error.stack, ...frames.filter((frame) => !known.has(placeOf(frame)))].join("\n");
  return error;
};

/** A refused input belongs to the called method, not to the request that it would have made. */
export const withOperation = (operation: string, error: unknown): unknown => {
  if (!(error instanceof ValidationError) || error.operation === undefined) return error;
  const said = error.message.slice(error.operation.length);
  return new ValidationError(operation + said, { operation, issues: error.issues, cause: error.cause });
};

/** What a response holds. `null` or a string, used as a record, would fail far from here. */
const recordOf = <Input, Output>(
  scope: CallScope,
  operation: Operation<Input, Output>,
  { input, response }: { readonly input: CallInput<Input>; readonly response: HttpResponse },
): unknown => {
  const { status, json } = response;
  const body = operation.read === undefined ? json : operation.read(json, input);
  if (operation.mayBeEmpty || (typeof body === "object" && body !== null)) return body;
  const what = `the service responded with ${status} with JSON that holds no record`;
  throw scope.error(ResponseValidationError, what, { status });
};
