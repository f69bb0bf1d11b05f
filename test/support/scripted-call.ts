import { type Answer, answer, Exchanges } from "../../src/answer.ts";
import type { Call } from "../../src/call.ts";
import type { Operation, OperationFacts } from "../../src/operations/define.ts";
import type { CallOptions } from "../../src/options.ts";
import { issuesOf } from "../../src/schemas/check.ts";

/** Answers an operation's payload with a body. */
export type Answering = (
  operation: OperationFacts,
  payload: unknown,
  options: CallOptions | undefined,
) => Promise<unknown>;

const response = { status: 200, headers: new Headers(), attempts: 1, waitedMs: 0 };

/** A call without the stages below it: what is above it is tested alone. */
export const scriptedCall = (answering: Answering): Call => {
  const call = <Input, Output>(
    operation: Operation<Input, Output>,
    input: { readonly id?: string; readonly payload: Input },
    options?: CallOptions,
  ): Answer<Output> =>
    answer(
      answering(operation, input.payload, options).then((body) => ({
        // A test answers in the shape that the operation has, or means not to.
        data: body as Output,
        response,
      })),
    );
  const issues: Call["issues"] = (operation, payload) => issuesOf(operation.input, payload);
  const whole: Call["whole"] = (_operation, { signal } = {}, work) => work(all, { signal, isUnclear: false });
  const sleep: Call["sleep"] = (clock, ms, signal) => clock.sleep(ms, signal);
  const untilClosed: Call["untilClosed"] = (_work, signal) => ({ signal, release: () => undefined });
  const all: Call = Object.assign(call, {
    issues,
    report: () => undefined,
    whole,
    lasting: () => all,
    sleep,
    untilClosed,
    answer: <T>(work: Promise<T>) => new Exchanges().answer(work),
  });
  return all;
};
