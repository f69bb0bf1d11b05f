import { ValidationError } from "../errors.ts";
import type { Plan } from "../http/types.ts";
import type { CallOptions } from "../options/options.ts";
import { callRules } from "../options/validation.ts";
import { refuseFaults, ruleFaults } from "../runtime/rules.ts";
import type { OperationFacts } from "../service/define.ts";

/** Follows the waits of long work. */
export interface Waits {
  /** For one request: called with what it waits for, and with undefined when the wait is over. */
  listener(): (waitingFor: string | undefined) => void;
}

/** What one request sends, and how its caller wants it sent. */
export interface CallInput<Input> {
  readonly id?: string;
  /** The path of a raw request, which is sent unchanged. */
  readonly path?: string;
  readonly payload: Input;
  /** The query of a request with a body; for a GET the payload is the query. */
  readonly query?: Readonly<Record<string, unknown>> | URLSearchParams | undefined;
  /** What differs from the plan that the operation and the options make. */
  readonly plan?: Partial<Plan> | undefined;
  /** Whether a success with this response had an effect; default: unless it is a read. */
  readonly hasEffect?: ((body: unknown) => boolean) | undefined;
}

/** A fault of one field, found before anything was sent. */
export const invalid = (operation: string, path: string, message: string): ValidationError =>
  new ValidationError(`${operation}: ${path === "" ? "" : `${path}: `}${message}`, {
    operation,
    issues: [{ path, message }],
  });

/** @throws ValidationError naming every fault of the options of one call. */
export const checkCallOptions = (operation: string, options: CallOptions): void =>
  refuseFaults(operation, ruleFaults(options, callRules));

/** What a scope of several requests has instead of a request's plan. */
export const noPlan: Plan = {
  replay: "safe",
  weight: 0,
  priority: "interactive",
  maxRetries: 0,
  maxWaitMs: undefined,
  isDrained: false,
  isDivisible: false,
  dryRun: undefined,
  once: undefined,
  onWait: undefined,
};

/** What it has instead of an operation. */
export const severalRequests = (id: string): OperationFacts => ({
  id,
  method: "POST",
  path: id,
  scope: [],
  budgets: [],
});
