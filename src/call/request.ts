import { type Issue, isTouchpointError, ValidationError } from "../errors.ts";
import type { Plan } from "../http/types.ts";
import type { CallOptions } from "../options/options.ts";
import { callRules } from "../options/validation.ts";
import { refuseFaults, ruleFaults } from "../runtime/rules.ts";
import { describeIssues } from "../service/check.ts";

/** Receives the waits of long work. */
export interface Waits {
  /** Returns a function for one request. Call it with what the request waits for, and with undefined after the wait. */
  listener(): (waitingFor: string | undefined) => void;
}

/** The parts of a plan that a caller may change. */
export type PlanChange = Partial<Pick<Plan, "priority" | "isDrained" | "isDivisible" | "dryRun" | "once">>;

/** The input of one request, and how its caller changes the plan. */
export interface CallInput<Input> {
  readonly id?: string;
  /** The path of a raw request, which is sent unchanged. */
  readonly path?: string;
  readonly payload: Input;
  /** The query of a request with a body. For a GET, the payload is the query. */
  readonly query?: Readonly<Record<string, unknown>> | URLSearchParams | undefined;
  /** Changes to the plan that follows from the operation and the options. */
  readonly plan?: PlanChange | undefined;
  /** Whether a success with this response body had an effect. Default: true, except for a read. */
  readonly hasEffect?: ((body: unknown) => boolean) | undefined;
}

/** Creates the error for a fault of one field, before anything was sent. */
export const invalid = (operation: string, path: string, message: string): ValidationError =>
  new ValidationError(`${operation}: ${path === "" ? "" : `${path}: `}${message}`, {
    operation,
    issues: [{ path, message }],
  });

/** @throws ValidationError naming every fault of the options of one call. */
export const checkCallOptions = (operation: string, options: CallOptions): void =>
  refuseFaults(operation, ruleFaults(options, callRules));

/** @throws ValidationError naming every issue, if there is one. */
export const throwIfInvalid = (operation: string, issues: readonly Issue[]): void => {
  if (issues.length > 0)
    throw new ValidationError(`${operation}: ${describeIssues(issues)}`, { operation, issues });
};

/**
 * Appends the stack of the caller to an error. The engine records async callers only through `await`. But the stages
 * return promises directly, because the frame of an async function would take half of a waiting call's memory.
 */
export const withCaller = (error: unknown): unknown => {
  if (!isTouchpointError(error)) return error;
  const functionIn = (frame: string): string => frame.replace(/:\d+:\d+\)?$/, "");
  const ownFrames = new Set(error.stack?.split("\n").map(functionIn));
  const [, , ...frames] = new Error().stack?.split("\n") ?? [];
  error.stack = [error.stack, ...frames.filter((frame) => !ownFrames.has(functionIn(frame)))].join("\n");
  return error;
};

/** Makes the error for an invalid input name the method that was called, and not a request inside of the call. */
export const withOperation = (operation: string, error: unknown): unknown => {
  if (!(error instanceof ValidationError) || error.operation === undefined) return error;
  const rest = error.message.slice(error.operation.length);
  return new ValidationError(operation + rest, { operation, issues: error.issues, cause: error.cause });
};
