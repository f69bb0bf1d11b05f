import { type ApiPromise, answer, CallStats } from "../../src/call/api-promise.ts";
import type { Call } from "../../src/call/executor.ts";
import type { CallOptions } from "../../src/options/options.ts";
import { issuesOf } from "../../src/service/check.ts";
import type { Operation, OperationFacts } from "../../src/service/define.ts";

/** Returns the response body for an operation's payload. */
export type Answering = (
  operation: OperationFacts,
  payload: unknown,
  options: CallOptions | undefined,
  /** Whether the caller says that an earlier request may have taken effect. */
  wasUnclear: boolean | undefined,
) => Promise<unknown>;

/** A call without the pipeline, to test the code above it alone. `attempts` is reported for each request. */
export const scriptedCall = (answering: Answering, attempts = 1): Call => {
  const response = { status: 200, headers: new Headers(), attempts, waitedMs: 0 };
  const call = <Input, Output>(
    operation: Operation<Input, Output>,
    input: { readonly id?: string; readonly payload: Input; readonly wasUnclear?: boolean | undefined },
    options?: CallOptions,
  ): ApiPromise<Output> =>
    answer(
      answering(operation, input.payload, options, input.wasUnclear).then((body) => ({
        // A test returns the operation's shape, or another one on purpose.
        data: body as Output,
        response,
      })),
    );
  const issues: Call["issues"] = (operation, payload) => issuesOf(operation.input, payload);
  const group: Call["group"] = (_operation, { signal } = {}, work) => work(all, { signal, isUnclear: false });
  const sleep: Call["sleep"] = (clock, ms, signal) => clock.sleep(ms, signal);
  const untilClosed: Call["untilClosed"] = (_work, signal) => ({ signal, release: () => undefined });
  const all: Call = Object.assign(call, {
    issues,
    report: () => undefined,
    group,
    scope: () => all,
    sleep,
    untilClosed,
    answer: <T>(work: Promise<T>) => new CallStats().answer(work),
  });
  return all;
};
