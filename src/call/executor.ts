import { type Issue, isTouchpointError, ResponseValidationError, ValidationError } from "../errors.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { isCallWatched, traceCall } from "../http/tracing.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import { describeIssues, issuesOf } from "../service/check.ts";
import type { Operation } from "../service/define.ts";
import { Answer, type WithResponse } from "./api-promise.ts";
import { type CallInput, checkCallOptions, requestMaker } from "./request.ts";
import { type Asked, type CallContext, CallScope, type Perform } from "./scope.ts";

/** @throws ValidationError naming every fault of a payload. */
export const checkInput = <Input>(operation: Operation<Input, unknown>, payload: Input): void =>
  throwIfInvalid(operation.id, issuesOf(operation.input, payload));

interface Begun {
  readonly scope: CallScope;
  readonly request: HttpRequest;
}

/** Runs the operations of a client. */
class Executor {
  readonly #context: Omit<CallContext, "perform">;
  readonly #maker: ReturnType<typeof requestMaker>;

  constructor(context: Omit<CallContext, "perform">) {
    this.#context = context;
    this.#maker = requestMaker(context.settings);
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
    const { operation, input } = asked;
    const begun = this.#begin(parent, asked);
    const { scope, request } = begun;
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
        const all = typed ? [...found, ...typed] : found;
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
      scope.release();
    }
  }

  // Separate from `run`: while a call waits, its frame keeps everything that it has created.
  #begin<Input, Output>(parent: CallScope, asked: Asked<Input, Output>): Begun {
    const { operation, input, options } = asked;
    if (options) checkCallOptions(operation.id, options);
    throwIfInvalid(operation.id, issuesOf(operation.input, input.payload));
    const plan = this.#maker.planOf(operation, input, { options, waits: parent.longWaits });
    const request = this.#maker.requestOf(operation, input, options);
    // Its time starts after the input was found to be valid.
    asked.scope = parent.forRequest(asked, plan);
    return { scope: asked.scope, request };
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
