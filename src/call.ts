import { tracingChannel } from "node:diagnostics_channel";
import { type Answer, answer, type WithResponse } from "./answer.ts";
import type { Clock } from "./clock.ts";
import { ResponseValidationError, ValidationError } from "./errors.ts";
import { deadline } from "./http/deadline.ts";
import { type HttpRequest, outcomeOf, type Send } from "./http/types.ts";
import type { Operation } from "./operations/define.ts";
import type { CallOptions, Settings } from "./options.ts";
import { Received } from "./received.ts";
import { type CallInput, checkCallOptions, requestBuilder } from "./request.ts";
import { describeIssues, issuesOf } from "./schemas/check.ts";

/** Runs one operation: checks the input, sends, checks the answer. Every error names the operation. */
export type Call = <Input, Output>(
  operation: Operation<Input, Output>,
  input: CallInput<Input>,
  options?: CallOptions,
) => Answer<Output>;

/** What subscribers of `touchpoint:call` are handed; filled in when the call ends. */
export interface CallTrace {
  readonly operation: string;
  status?: number;
  attempts?: number;
  /** Time spent waiting for budgets and in back-off. */
  waitedMs?: number;
}

const calls = tracingChannel<string, CallTrace>("touchpoint:call");

type AnsweredOperation = Pick<Operation<unknown, unknown>, "id"> & {
  readonly output: Parameters<typeof issuesOf>[0];
};

/** @throws ValidationError naming every fault of a payload. */
export const checkInput = <Input>(operation: Operation<Input, unknown>, payload: Input): void => {
  const issues = issuesOf(operation.input, payload);
  if (issues.length === 0) return;
  throw new ValidationError(`${operation.id}: ${describeIssues(issues)}`, {
    operation: operation.id,
    issues,
  });
};

/** Makes the one function through which every method of every resource goes. */
export const createCall = (send: Send, settings: Settings, clock: Clock): Call => {
  const buildRequest = requestBuilder(settings);

  const checkAnswer = (
    operation: AnsweredOperation,
    body: unknown,
    made: { readonly request: HttpRequest; readonly status: number },
  ): void => {
    if (settings.responseValidation === "off") return;
    const issues = issuesOf(operation.output, body);
    if (issues.length === 0) return;
    const { request, status } = made;
    if (settings.responseValidation === "strict") {
      throw new ResponseValidationError(
        `${operation.id}: the answer does not fit: ${describeIssues(issues)}`,
        {
          operation: operation.id,
          // The service answered with success: whatever was asked for has probably happened.
          outcome: request.replay === "safe" ? outcomeOf(request) : "unknown",
          attempts: request.log.attempts,
          status,
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
    checkInput(operation, input.payload);
    const { replay: rule } = operation;
    const replay = typeof rule === "function" ? rule(input.payload) : rule;
    const rules = { replay, weight: operation.weight?.(input.payload) ?? 1 };
    const unbound = buildRequest(operation, input, { options, rules });
    const bound = deadline(options?.signal, options?.totalTimeoutMs ?? settings.totalTimeoutMs, clock);
    try {
      bound.signal?.throwIfAborted();
      const request: HttpRequest = { ...unbound, signal: bound.signal };
      const response = await send(request);
      const body =
        response.isJson && operation.read !== undefined ? operation.read(response.json) : response.json;
      if (body !== undefined || !operation.mayBeEmpty)
        checkAnswer(operation, body, { request, status: response.status });
      return {
        // Checked above as far as `responseValidation` asks; beyond that it is handed over as it came.
        data: body as Output,
        response: new Received(response, request.log),
      };
    } finally {
      bound.release();
    }
  };

  const traced: typeof run = (operation, input, options) => {
    const trace: CallTrace = { operation: operation.id };
    const watch = async () => {
      const whole = await run(operation, input, options);
      const { status, attempts, waitedMs } = whole.response;
      Object.assign(trace, { status, attempts, waitedMs });
      return whole;
    };
    return calls.tracePromise(watch, trace);
  };

  return (operation, input, options) =>
    answer(calls.hasSubscribers ? traced(operation, input, options) : run(operation, input, options));
};
