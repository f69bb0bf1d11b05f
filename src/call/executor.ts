import { tracingChannel } from "node:diagnostics_channel";
import {
  ApiError,
  type Issue,
  isTouchpointError,
  type Outcome,
  ResponseValidationError,
  ValidationError,
} from "../errors.ts";
import type { Redactor } from "../http/auth.ts";
import { isWatched, withoutResult } from "../http/tracing.ts";
import type { HttpRequest, HttpResponse, Send } from "../http/types.ts";
import type { CallTrace } from "../options/hooks.ts";
import type { CallOptions, Settings } from "../options/options.ts";
import {
  type AbortedWork,
  type AbortScope,
  abortError,
  ClientClosed,
  type Lifetime,
  openScope,
  progressOf,
  untilAborted,
  whenAborted,
} from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { describeIssues, issuesOf } from "../service/check.ts";
import type { Operation } from "../service/define.ts";
import { type ApiPromise, answer, CallStats, LazyResponseInfo, type WithResponse } from "./api-promise.ts";
import { type CallGroup, type CallInput, checkCallOptions, requestBuilder } from "./request.ts";

/** Runs one operation: checks the input, sends, checks the response. Every error names the operation. */
export interface Call {
  <Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    options?: CallOptions,
  ): ApiPromise<Output>;
  /**
   * Reports invalid responses to the log and `onValidationIssue`; also faults of several responses together, such as a
   * list's order.
   */
  report(operation: string, issues: readonly Issue[]): void;
  /**
   * Runs a call with several requests. The requests made through `part` end together, by the call's signal and total
   * time. `shared` tells each request whether an earlier one may have taken effect.
   */
  group<T>(
    operation: string,
    options: CallOptions | undefined,
    work: (part: Call, shared: CallGroup) => Promise<T>,
  ): Promise<T>;
  /**
   * Starts long work, such as an iteration. Once the client is closed, the work sends no more requests, although new
   * calls are possible.
   */
  scope(): Call;
  /** Creates the answer of a call with several requests, from all requests made through this object. */
  answer<T>(work: Promise<T>): ApiPromise<T>;
  /**
   * Resolves after `ms`. In `scope` and `group` it also rejects when the client is closed.
   *
   * @throws the signal's reason as soon as it aborts.
   */
  sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void>;
  /**
   * A signal that also aborts, with a ConnectionError, when the client is closed; for a wait outside of any request.
   */
  untilClosed(operation: string, signal: AbortSignal | undefined, outcome: () => Outcome): AbortScope;
  /** The faults that a call with this payload would be refused for; a promise only if the workspace has schemas. */
  issues<Input>(
    operation: Operation<Input, unknown>,
    payload: Input,
  ): readonly Issue[] | Promise<readonly Issue[]>;
}

const calls = tracingChannel<string, CallTrace>("touchpoint:call");

type AnsweredOperation = Pick<Operation<unknown, unknown>, "id"> & {
  readonly output: Parameters<typeof issuesOf>[0];
};

/** @throws ValidationError naming every fault of a payload. */
export const checkInput = <Input>(operation: Operation<Input, unknown>, payload: Input): void =>
  throwIfInvalid(operation.id, issuesOf(operation.input, payload));

/** The service responded with success, so the operation has probably taken effect. */
const workOf = (request: HttpRequest): AbortedWork => {
  const { attempts } = request.stats;
  const work = progressOf(request);
  return { ...work, attempts, outcome: request.replay === "safe" ? work.outcome : "unknown" };
};

/** What a call needs to reach the service. */
export interface CallContext {
  readonly send: Send;
  readonly settings: Settings;
  readonly redactor: Pick<Redactor, "text">;
  readonly lifetime: Lifetime;
}

/** Creates the one function that every method of every resource goes through. */
export const createCall = ({ send, settings, redactor, lifetime }: CallContext, clock: Clock): Call => {
  const buildRequest = requestBuilder(settings);

  const { workspace } = settings;

  const totalTimeoutOf = (options: CallOptions | undefined): number | undefined =>
    options?.totalTimeoutMs ?? settings.totalTimeoutMs;

  const report: Call["report"] = (operation, issues) => {
    settings.log.warn("answer does not fit", { operation, fields: issues.map(({ path }) => path) });
    settings.hooks.onValidationIssue?.({ operation, issues });
  };

  const issues: Call["issues"] = (operation, payload) => {
    const found = issuesOf(operation.input, payload);
    return found.length > 0 || workspace === undefined ? found : workspace.inputIssues(operation.id, payload);
  };

  const reportAnswer = (
    operation: AnsweredOperation,
    found: readonly Issue[],
    answered: AbortedWork & { readonly status: number },
  ): void => {
    if (found.length === 0) return;
    // Issues may quote the response: a name in their path, or a sentence of the workspace's schema.
    const issues = found.map(({ path, message }) => ({
      path: redactor.text(path),
      message: redactor.text(message),
    }));
    if (settings.responseValidation === "strict") {
      throw new ResponseValidationError(
        `${operation.id}: the answer does not fit: ${describeIssues(issues)}`,
        { ...answered, issues },
      );
    }
    report(operation.id, issues);
  };

  // Separate from `run`: while a call waits, its frame keeps everything that it has created.
  const begin = <Input>(
    operation: Operation<Input, unknown>,
    input: CallInput<Input>,
    options: CallOptions | undefined,
  ): { readonly request: HttpRequest; readonly scope: AbortScope } => {
    if (options) checkCallOptions(operation.id, options);
    checkInput(operation, input.payload);
    const { replay: rule } = operation;
    const replay = typeof rule === "function" ? rule(input.payload) : rule;
    const weight = operation.weight?.(input.payload) ?? 1;
    const request = buildRequest(operation, input, { options, rules: { replay, weight } });
    const totalTimeoutMs = input.whole || input.isDrained ? undefined : totalTimeoutOf(options);
    const scope = openScope([options?.signal, input.partOf ?? lifetime.signal], { totalTimeoutMs, clock });
    request.signal = scope.signal;
    request.deadlineAt =
      totalTimeoutMs === undefined ? input.whole?.deadlineAt : clock.now() + totalTimeoutMs;
    return { request, scope };
  };

  // Separate from `run` for the same reason.
  const accept = async <Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    { request, response }: { readonly request: HttpRequest; readonly response: HttpResponse },
  ): Promise<WithResponse<Output>> => {
    const work = workOf(request);
    const body = operation.read === undefined ? response.json : operation.read(response.json, input);
    if (!operation.mayBeEmpty && (typeof body !== "object" || body === null))
      throw missingRecordError(work, response.status);
    if (settings.responseValidation !== "off" && body !== undefined) {
      const found = issuesOf(operation.output, body);
      const more =
        workspace && (await untilAborted(workspace.answerIssues(operation.id, body), request.signal));
      reportAnswer(operation, more ? [...found, ...more] : found, { ...work, status: response.status });
    }
    return {
      // Already checked as `responseValidation` asks; beyond that, the response is returned as it is.
      data: body as Output,
      response: new LazyResponseInfo(response, request.stats),
    };
  };

  const run = async <Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    options: CallOptions | undefined,
  ): Promise<WithResponse<Output>> => {
    const { request, scope } = begin(operation, input, options);
    let response: HttpResponse | undefined;
    try {
      scope.signal?.throwIfAborted();
      // The body is already written: what is checked here is what is sent.
      if (workspace !== undefined) {
        const found = workspace.inputIssues(operation.id, input.payload);
        throwIfInvalid(operation.id, await untilAborted(found, scope.signal));
      }
      response = await send(request);
      return await accept(operation, input, { request, response });
    } catch (error) {
      const ended = abortError(error, response ? workOf(request) : progressOf(request));
      // An error that is created here has the caller in its stack already; close() creates one for each call that waits.
      throw ended === error ? withCaller(error) : ended;
    } finally {
      scope.release();
    }
  };

  const traced: typeof run = async (operation, input, options) => {
    const trace: CallTrace = { operation: operation.id };
    return withoutResult(calls, trace, async () => {
      try {
        const whole = await run(operation, input, options);
        const { status, attempts, waitedMs } = whole.response;
        Object.assign(trace, { status, attempts, waitedMs });
        return whole;
      } catch (error) {
        if (isTouchpointError(error)) trace.attempts = error.attempts;
        if (error instanceof ApiError) trace.status = error.status;
        throw error;
      }
    });
  };

  const call = <Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    options?: CallOptions,
  ): ApiPromise<Output> =>
    answer(
      isWatched(calls)
        ? traced(operation, input, options ?? undefined)
        : run(operation, input, options ?? undefined),
    );

  // One lifetime for all of the work: after the client was closed, the work sends nothing more.
  const partOf = (ending: AbortSignal, exchanges: CallStats, shared?: CallGroup): Call => {
    const part = <Input, Output>(
      operation: Operation<Input, Output>,
      input: CallInput<Input>,
      options?: CallOptions,
    ): ApiPromise<Output> => {
      const request = call(operation, { ...input, whole: shared, partOf: shared?.signal ?? ending }, options);
      exchanges.watch(request);
      return request;
    };
    // A call within a call is also a part of it.
    const inner: Call["group"] = (operation, options, work) =>
      shared === undefined ? groupUntil(ending, exchanges)(operation, options, work) : work(all, shared);
    const sleep: Call["sleep"] = async (by, ms, signal) => {
      const scope = openScope([signal, ending]);
      try {
        await by.sleep(ms, scope.signal);
      } catch (reason) {
        // The next request throws this, with the results of the work so far.
        if (!(reason instanceof ClientClosed)) throw reason;
      } finally {
        scope.release();
      }
    };
    const untilClosed: Call["untilClosed"] = (operation, signal, outcome) => {
      const closed = new AbortController();
      const close = (): void =>
        closed.abort(abortError(ending.reason, { operation, attempts: 0, outcome: outcome() }));
      const unlink = whenAborted(ending, close);
      if (ending.aborted) close();
      const scope = openScope([signal, closed.signal]);
      const release = (): void => {
        scope.release();
        unlink();
      };
      return { signal: scope.signal, release };
    };
    const all: Call = Object.assign(part, {
      ...{ issues, report, group: inner, scope: () => all, sleep, untilClosed },
      answer: <T>(work: Promise<T>) => exchanges.answer(work),
    });
    return all;
  };

  const groupUntil =
    (ending: AbortSignal, exchanges: CallStats): Call["group"] =>
    async (operation, options, work) => {
      if (options) checkCallOptions(operation, options);
      const totalTimeoutMs = totalTimeoutOf(options);
      const { signal, release } = openScope([options?.signal, ending], { totalTimeoutMs, clock });
      const deadlineAt = totalTimeoutMs === undefined ? undefined : clock.now() + totalTimeoutMs;
      const shared: CallGroup = { signal, isUnclear: false, deadlineAt };
      try {
        return await work(partOf(ending, exchanges, shared), shared);
      } finally {
        release();
      }
    };

  const newScope = (): Call => partOf(lifetime.signal, new CallStats());
  const group: Call["group"] = (...work) => newScope().group(...work);
  const sleep: Call["sleep"] = (by, ms, signal) => by.sleep(ms, signal);
  const untilClosed: Call["untilClosed"] = (...wait) => newScope().untilClosed(...wait);
  const answered: Call["answer"] = (work) => newScope().answer(work);
  return Object.assign(call, {
    issues,
    report,
    group,
    scope: newScope,
    sleep,
    untilClosed,
    answer: answered,
  });
};

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

/** For a response of `null` or a string: used as a record, it would fail far from here. */
const missingRecordError = (work: AbortedWork, status: number): ResponseValidationError =>
  new ResponseValidationError(
    `${work.operation}: the service answered ${status} with JSON that holds no record`,
    { ...work, status },
  );
