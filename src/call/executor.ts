import { tracingChannel } from "node:diagnostics_channel";
import { type Issue, type Outcome, ResponseValidationError } from "../errors.ts";
import type { Closing } from "../http/closing.ts";
import { type Deadline, deadline, joined } from "../http/deadline.ts";
import type { Redactor } from "../http/redaction.ts";
import { type HttpRequest, outcomeOf, type Send } from "../http/types.ts";
import { withoutResult } from "../http/without-result.ts";
import type { CallOptions, Settings } from "../options/options.ts";
import type { Clock } from "../runtime/clock.ts";
import { describeIssues, issuesOf } from "../service/check.ts";
import type { Operation } from "../service/define.ts";
import { type Answer, answer, Exchanges, type WithResponse } from "./api-promise.ts";
import { type CallInput, checkCallOptions, requestBuilder, type Whole } from "./request.ts";
import { Received } from "./response-info.ts";
import { noRecord, refuse } from "./validation-errors.ts";
import { endOf, openWait, withinCall } from "./within-call.ts";

/** Runs one operation: checks the input, sends, checks the answer. Every error names the operation. */
export interface Call {
  <Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    options?: CallOptions,
  ): Answer<Output>;
  /** Tells the log and `onValidationIssue` of what does not fit in answers taken together, such as a list's order. */
  report(operation: string, issues: readonly Issue[]): void;
  /**
   * Runs a call that takes several requests. Those that go through `part` end together, by the call's signal and total
   * time; what one of them leaves unclear is told to the next through `whole`.
   */
  whole<T>(
    operation: string,
    options: CallOptions | undefined,
    work: (part: Call, whole: Whole) => Promise<T>,
  ): Promise<T>;
  /**
   * The same for work that lasts: what goes through it belongs to this moment, so that nothing of it is sent any more
   * once the client was closed.
   */
  lasting(): Call;
  /** Makes the answer of a call that takes several requests: of all that went through this part. */
  answer<T>(work: Promise<T>): Answer<T>;
  /**
   * Resolves after `ms`; within `lasting` and `whole` also when the client is closed.
   *
   * @throws the signal's reason as soon as it aborts.
   */
  sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** One signal that also aborts, with a ConnectionError, when the client is closed: for a wait outside of any request. */
  untilClosed(operation: string, signal: AbortSignal | undefined, outcome: () => Outcome): Deadline;
  /** What a call with this payload would be refused for; a promise only where the workspace has schemas. */
  issues<Input>(
    operation: Operation<Input, unknown>,
    payload: Input,
  ): readonly Issue[] | Promise<readonly Issue[]>;
}

/** What subscribers of `touchpoint:call` are handed; filled in when the call ends. */
export interface CallTrace {
  /** For example `contacts.create`. */
  readonly operation: string;
  /** Of the last answer. */
  status?: number;
  /** Requests made. */
  attempts?: number;
  /** Time spent waiting for budgets and in back-off, in milliseconds. */
  waitedMs?: number;
}

const calls = tracingChannel<string, CallTrace>("touchpoint:call");

// The service answered with success: whatever was asked for has probably happened.
const outcomeOfAnswered = (request: HttpRequest): Outcome =>
  request.replay === "safe" ? outcomeOf(request) : "unknown";

type AnsweredOperation = Pick<Operation<unknown, unknown>, "id"> & {
  readonly output: Parameters<typeof issuesOf>[0];
};

/** @throws ValidationError naming every fault of a payload. */
export const checkInput = <Input>(operation: Operation<Input, unknown>, payload: Input): void =>
  refuse(operation.id, issuesOf(operation.input, payload));

/** How a request reaches the service. */
export interface Way {
  readonly send: Send;
  readonly settings: Settings;
  readonly redactor: Pick<Redactor, "text">;
  readonly closing: Closing;
}

/** Makes the one function through which every method of every resource goes. */
export const createCall = ({ send, settings, redactor, closing }: Way, clock: Clock): Call => {
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
    made: { readonly request: HttpRequest; readonly status: number },
  ): void => {
    if (found.length === 0) return;
    const { request, status } = made;
    // They may quote the answer: a name in their path, or a sentence of the workspace's own schema.
    const issues = found.map(({ path, message }) => ({
      path: redactor.text(path),
      message: redactor.text(message),
    }));
    if (settings.responseValidation === "strict") {
      throw new ResponseValidationError(
        `${operation.id}: the answer does not fit: ${describeIssues(issues)}`,
        {
          operation: operation.id,
          outcome: outcomeOfAnswered(request),
          attempts: request.log.attempts,
          status,
          issues,
        },
      );
    }
    report(operation.id, issues);
  };

  const run = async <Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    options: CallOptions | undefined,
  ): Promise<WithResponse<Output>> => {
    if (options) checkCallOptions(operation.id, options);
    checkInput(operation, input.payload);
    const { replay: rule } = operation;
    const replay = typeof rule === "function" ? rule(input.payload) : rule;
    const rules = { replay, weight: operation.weight?.(input.payload) ?? 1 };
    const unbound = buildRequest(operation, input, { options, rules });
    unbound.log.closings ??= input.closings ?? closing.count;
    const bound = input.whole
      ? joined(options?.signal, input.whole.signal)
      : deadline(options?.signal, totalTimeoutOf(options), clock);
    try {
      const request: HttpRequest = { ...unbound, signal: bound.signal };
      if (bound.signal?.aborted) throw endOf(request, outcomeOf(request));
      // The body is written already: what is checked here is what leaves.
      if (workspace !== undefined)
        refuse(
          operation.id,
          await withinCall(workspace.inputIssues(operation.id, input.payload), request, outcomeOf(request)),
        );
      const response = await send(request);
      const body =
        response.isJson && operation.read !== undefined
          ? operation.read(response.json, input)
          : response.json;
      if (!operation.mayBeEmpty && (typeof body !== "object" || body === null)) {
        throw noRecord(request, response.status, outcomeOfAnswered(request));
      }
      if (settings.responseValidation !== "off" && body !== undefined) {
        const found = issuesOf(operation.output, body);
        const more =
          workspace &&
          (await withinCall(workspace.answerIssues(operation.id, body), request, outcomeOfAnswered(request)));
        reportAnswer(operation, more ? [...found, ...more] : found, { request, status: response.status });
      }
      return {
        // Checked above as far as `responseValidation` asks; beyond that it is handed over as it came.
        data: body as Output,
        response: new Received(response, request.log),
      };
    } finally {
      bound.release();
    }
  };

  const traced: typeof run = async (operation, input, options) => {
    const trace: CallTrace = { operation: operation.id };
    return withoutResult(calls, trace, async () => {
      const whole = await run(operation, input, options);
      const { status, attempts, waitedMs } = whole.response;
      Object.assign(trace, { status, attempts, waitedMs });
      return whole;
    });
  };

  const call = <Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    options?: CallOptions,
  ): Answer<Output> =>
    answer(
      calls.hasSubscribers
        ? traced(operation, input, options ?? undefined)
        : run(operation, input, options ?? undefined),
    );

  const partOf = (closings: number, exchanges: Exchanges, shared?: Whole): Call => {
    const part = <Input, Output>(
      operation: Operation<Input, Output>,
      input: CallInput<Input>,
      options?: CallOptions,
    ): Answer<Output> => {
      const request = call(operation, { ...input, whole: shared, closings }, options);
      exchanges.watch(request);
      return request;
    };
    // A call within a call is a part of it as well.
    const inner: Call["whole"] = (operation, options, work) =>
      shared === undefined ? wholeSince(closings, exchanges)(operation, options, work) : work(all, shared);
    // Closed before the wait begins: nothing is left to wait for.
    const sleep: Call["sleep"] = async (by, ms, signal) =>
      closing.count === closings ? closing.sleep(by, ms, signal) : undefined;
    const untilClosed = openWait(closing, closings);
    const all: Call = Object.assign(part, {
      ...{ issues, report, whole: inner, lasting: () => all, sleep, untilClosed },
      answer: <T>(work: Promise<T>) => exchanges.answer(work),
    });
    return all;
  };

  const wholeSince =
    (closings: number, exchanges: Exchanges): Call["whole"] =>
    async (operation, options, work) => {
      if (options) checkCallOptions(operation, options);
      const { signal, release } = deadline(options?.signal, totalTimeoutOf(options), clock);
      const shared = { signal, isUnclear: false };
      try {
        return await work(partOf(closings, exchanges, shared), shared);
      } finally {
        release();
      }
    };

  const lasting = (): Call => partOf(closing.count, new Exchanges());
  const whole: Call["whole"] = (...work) => lasting().whole(...work);
  const sleep: Call["sleep"] = (by, ms, signal) => by.sleep(ms, signal);
  const untilClosed: Call["untilClosed"] = (...wait) => lasting().untilClosed(...wait);
  const answered: Call["answer"] = (work) => lasting().answer(work);
  return Object.assign(call, { issues, report, whole, lasting, sleep, untilClosed, answer: answered });
};
