import { type Issue, ResponseValidationError, ValidationError } from "../errors.ts";
import { errorFrom } from "../http/error-from.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { isCallWatched, traceCall } from "../http/tracing.ts";
import type { Plan, Sending } from "../http/types.ts";
import type { CallOptions, Settings } from "../options/options.ts";
import { callRules } from "../options/validation.ts";
import { version } from "../options/version.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import { readOptions } from "../runtime/rules.ts";
import { unsafeIssue } from "../runtime/unsafe-numbers.ts";
import { isRecord, isSearchParams, messageOf } from "../runtime/values.ts";
import { describeIssues, issuesOf, readFields } from "../service/check.ts";
import type { Operation } from "../service/define.ts";
import { Answer, type ApiPromise, answer, type WithResponse } from "./api-promise.ts";
import type { Call } from "./call.ts";
import {
  type CallInput,
  checkCallOptions,
  invalid,
  throwIfInvalid,
  type Waits,
  withCaller,
} from "./request.ts";

/** An operation with its input and options, before or after they are checked. */
interface Requested<Input, Output> {
  readonly operation: Operation<Input, Output>;
  readonly input: CallInput<Input>;
  readonly options: CallOptions | undefined;
}

/** A checked operation with its plan and its request, and the call that sends it. */
interface CallSending<Input, Output> extends Sending {
  readonly operation: Operation<Input, Output>;
  readonly call: Call;
  readonly input: CallInput<Input>;
  readonly request: HttpRequest;
}

/**
 * Copies the input of an operation into the form that is checked and sent.
 *
 * @throws ValidationError naming every fault.
 */
export const readPayload = <Input>(operation: Operation<Input, unknown>, input: Input): Input => {
  let payload: Input;
  try {
    payload = readFields(operation.input, input);
  } catch (cause) {
    // An accessor or a Proxy of the input can throw.
    throw new ValidationError(`${operation.id}: the input cannot be read: ${messageOf(cause)}`, {
      operation: operation.id,
      cause,
    });
  }
  const issues = issuesOf(operation.input, payload);
  if (issues.length > 0) throwIfInvalid(operation.id, issues);
  return payload;
};

const longestId = 1_024;

/** Inserts an id into a path as exactly one segment. */
const pathWithId = (operation: string, path: string, id: unknown): string => {
  const isText = typeof id === "string" && id !== "" && id.length <= longestId;
  if (!isText)
    throw invalid(operation, "id", `must be a non-empty string of at most ${longestId} characters`);
  // These two ids can't be encoded: servers may read every form of them as the current or the parent folder.
  if (id === "." || id === "..") throw invalid(operation, "id", `must not be "${id}"`);
  if (!id.isWellFormed()) throw invalid(operation, "id", "must not contain half of a surrogate pair");
  return path.replace(":id", () => encodeURIComponent(id));
};

const queryOf = (payload: unknown): string => {
  const query = new URLSearchParams();
  for (const [name, value] of isSearchParams(payload) ? payload : Object.entries(payload ?? {})) {
    if (value !== undefined && value !== null) query.append(name, String(value));
  }
  // Write a space as %20, which every decoder understands. A plus sign in a value is already %2B.
  return query.size === 0 ? "" : `?${query.toString().replaceAll("+", "%20")}`;
};

const jsonHeaders = { accept: "application/json", "user-agent": `touchpoint-sdk/${version}` };
const jsonBodyHeaders = { ...jsonHeaders, "content-type": "application/json" };

/** The HTTP request of an operation whose input was checked. */
const requestOf = <Input>(
  settings: Settings,
  { operation, input, options }: Requested<Input, unknown>,
): HttpRequest => {
  const { id } = operation;
  const { method = operation.method, path: template = operation.path } = settings.routes[id] ?? {};
  const isQuery = method === "GET";
  const path = input.path ?? (template.includes("/:id") ? pathWithId(id, template, input.id) : template);
  const query = isQuery ? input.payload : input.query;
  // The check of the input has refused what JSON cannot carry.
  const body = isQuery ? undefined : JSON.stringify(operation.write?.(input.payload) ?? input.payload);
  const headers: Record<string, string> = { ...(body === undefined ? jsonHeaders : jsonBodyHeaders) };
  // Use names in lower case, so that no header is sent twice. `undefined` removes a header.
  for (const extra of [settings.headers, options?.headers ?? {}])
    for (const [name, value] of Object.entries(extra)) {
      if (value === undefined) delete headers[name.toLowerCase()];
      else headers[name.toLowerCase()] = value;
    }
  return {
    method,
    path: settings.basePath + path + (query === undefined ? "" : queryOf(query)),
    headers,
    body,
    attemptTimeoutMs: options?.timeoutMs ?? settings.timeoutMs,
    authorization: undefined,
    admission: undefined,
  };
};

/** Plans how to send an operation, according to its input and its options. */
const planOf = <Input>(
  settings: Settings,
  { operation, input, options }: Requested<Input, unknown>,
  waits: Waits | undefined,
): Plan => {
  const { payload, plan } = input;
  const { replay } = operation;
  const byDefault = waits === undefined ? "interactive" : "background";
  const priority = options?.priority ?? settings.priority ?? plan?.priority ?? byDefault;
  const isDrained = plan?.isDrained ?? false;
  const maxWaitMs = priority === "background" ? undefined : settings.maxWaitMs;
  return {
    replay: typeof replay === "function" ? replay(payload) : replay,
    weight: operation.weight?.(payload) ?? 1,
    priority,
    maxRetries: options?.maxRetries ?? settings.maxRetries,
    maxWaitMs: isDrained ? undefined : (options?.maxWaitMs ?? maxWaitMs),
    isDrained,
    isDivisible: plan?.isDivisible ?? false,
    dryRun: plan?.dryRun,
    once: plan?.once,
    onWait: waits?.listener(),
  };
};

/** Checks an input and creates its call. @throws ValidationError naming every fault; nothing was sent. */
const prepare = <Input, Output>(
  creator: Call,
  requested: Requested<Input, Output>,
): CallSending<Input, Output> => {
  const { operation, options } = requested;
  const { context } = creator;
  if (options) checkCallOptions(operation.id, options);
  const input = { ...requested.input, payload: readPayload(operation, requested.input.payload) };
  const checked = { operation, input, options };
  const plan = planOf(context.settings, checked, creator.longWaits);
  const request = requestOf(context.settings, checked);
  // Create the call last, so that its time starts after the checks.
  return { operation, plan, call: creator.begin(operation.id, plan, options), input, request };
};

/** Reports the faults of a response. If `responseValidation` is strict, throws them instead. */
const reportAnswer = (
  { operation, call }: Sending & { readonly call: Call },
  faults: readonly Issue[],
  status: number,
): void => {
  const { redactor, settings } = call.context;
  // Issues may quote the response: a field name in the path, or a message of the workspace's schema.
  const issues = faults.map(({ path, message }) => ({
    path: redactor.text(path),
    message: redactor.text(message),
  }));
  if (settings.responseValidation === "strict") {
    const what = `the response is invalid: ${describeIssues(issues)}`;
    throw call.error(ResponseValidationError, what, { status, issues });
  }
  call.report(operation.id, issues);
};

const exchange = async <Input, Output>(
  sending: CallSending<Input, Output>,
): Promise<WithResponse<Output>> => {
  const { operation, plan, call, input, request } = sending;
  const { send, settings, clock } = call.context;
  const { workspace } = settings;
  // Whether the service responded with success to an operation that is not a read.
  let isDone = false;
  try {
    call.signal?.throwIfAborted();
    // The schemas can't change what is sent, because the body is already serialized.
    if (workspace !== undefined) {
      const faults = workspace.inputIssues(operation, input.payload);
      throwIfInvalid(operation.id, await untilAborted(faults, call.signal));
    }
    const response = await send(sending, request);
    isDone = plan.replay !== "safe";
    const body = recordOf(sending, response);
    if (settings.responseValidation !== "off" && body !== undefined) {
      const faults = issuesOf(operation.output, body);
      const schemaIssues =
        workspace && (await untilAborted(workspace.answerIssues(operation, body), call.signal));
      const { unsafe } = response;
      const numberIssues = unsafe ? [unsafeIssue(unsafe)] : [];
      const all = schemaIssues || unsafe ? [...faults, ...numberIssues, ...(schemaIssues ?? [])] : faults;
      if (all.length > 0) reportAnswer(sending, all, response.status);
    }
    if (isDone && (call.attempts > 1 || input.hasEffect?.(body) !== false)) call.noteEffect();
    // The body is an Output as far as `responseValidation` requires. Invalid bodies are reported, and returned
    // unchanged.
    return new Answer(body as Output, call);
  } catch (error) {
    // The caller gets an error and can no longer rule out the effect: count it.
    if (isDone) call.noteEffect();
    const ended = errorFrom(error, sending, { wallTime: clock.wallTime() });
    // `withCaller` adds the caller's stack to an error from the stages. An error created here already has it.
    throw ended === error ? withCaller(error) : ended;
  } finally {
    call.release?.();
  }
};

const responseOf = ({ response }: WithResponse<unknown>) => response;

/**
 * Sends one operation: checks the input, sends it in a separate call, and checks the response.
 *
 * @param creator - the call of a client, or the call that this request is a part of.
 */
export const sendRequest = <Input, Output>(
  creator: Call,
  operation: Operation<Input, Output>,
  input: CallInput<Input>,
  callOptions?: CallOptions,
): ApiPromise<Output> => {
  const options = callOptions ? readOptions(callOptions, callRules) : undefined;
  let call: Call | undefined;
  const start = (): Promise<WithResponse<Output>> => {
    let sending: CallSending<Input, Output>;
    try {
      sending = prepare(creator, { operation, input, options });
    } catch (fault) {
      return Promise.reject(fault);
    }
    call = sending.call;
    // `exchange` is a separate function because the frame of a waiting call keeps all of its variables in memory.
    return exchange(sending);
  };
  const isTraced = !creator.sharesLimits && isCallWatched();
  return answer(isTraced ? traceCall(operation.id, start, responseOf) : start(), () => call?.outcome);
};

/**
 * Returns the body of a response. Unless the operation allows an empty body, refuses a body that is not a record, such
 * as `null` or an array, because it would fail in unrelated code.
 */
const recordOf = <Input, Output>(
  { operation, call, input }: CallSending<Input, Output>,
  { status, json }: HttpResponse,
): unknown => {
  const body = operation.read === undefined ? json : operation.read(json, input);
  if (operation.mayBeEmpty || isRecord(body)) return body;
  const what = `the service responded with ${status}, but its JSON is not a record`;
  throw call.error(ResponseValidationError, what, { status });
};
